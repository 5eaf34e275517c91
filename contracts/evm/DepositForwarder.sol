// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @notice Receives one payment. Whatever it holds can go to the treasury and nowhere else, so anybody may flush it.
/// @dev Payments are minimal clones of one implementation: the treasury is in its code and clones have no storage.
contract DepositForwarder {
    using SafeERC20 for IERC20;

    address payable public immutable treasury;

    error NoTreasury();

    constructor(address payable treasury_) {
        if (treasury_ == address(0)) revert NoTreasury();
        treasury = treasury_;
    }

    /// @notice Sends the whole balance of a token to the treasury; nothing to send is no error.
    /// @param token the token's contract, or the zero address for the chain's own coin that somebody sent by mistake
    function flush(IERC20 token) external {
        if (address(token) == address(0)) {
            Address.sendValue(treasury, address(this).balance);
            return;
        }
        uint256 balance = token.balanceOf(address(this));
        if (balance > 0) token.safeTransfer(treasury, balance);
    }
}
