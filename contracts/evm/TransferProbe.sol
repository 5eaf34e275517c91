// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Token {
    function balanceOf(address holder) external view returns (uint256);
}

/// @notice Stands on no chain: nodes run it in place of an account's code (state override of eth_call), to tell what a transfer by that
/// account would bring its receiver. Tokens may keep a fee, or return false and move nothing.
contract TransferProbe {
    /// @return by how much the receiver's balance grows; reverts as the token does
    function arrives(Token token, address receiver, uint256 amount) external returns (uint256) {
        uint256 before = token.balanceOf(receiver);
        // Whatever the token returns, or does not, the balance tells.
        (bool done, bytes memory reason) = address(token).call(abi.encodeWithSelector(0xa9059cbb, receiver, amount));
        if (!done) {
            assembly {
                revert(add(reason, 32), mload(reason))
            }
        }
        return token.balanceOf(receiver) - before;
    }
}
