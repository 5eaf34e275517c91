// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice Pays many receivers of one token out of the caller's own balance, all of them or nobody.
/// @dev Holds nothing, stores nothing, belongs to nobody. It spends the allowance of whoever calls it and of no one else, so an allowance
/// for it gives nobody but its owner anything.
contract PayMany {
    using SafeERC20 for IERC20;

    error Uneven();
    error Short(address receiver);

    /// @notice Reverts as the token does, and when a receiver would get less than its amount: from tokens that keep a fee, or by paying oneself.
    function payMany(IERC20 token, address[] calldata receivers, uint256[] calldata amounts) external {
        if (receivers.length != amounts.length) revert Uneven();
        for (uint256 i = 0; i < receivers.length; ++i) {
            uint256 before = token.balanceOf(receivers[i]);
            token.safeTransferFrom(msg.sender, receivers[i], amounts[i]);
            if (token.balanceOf(receivers[i]) < before + amounts[i]) revert Short(receivers[i]);
        }
    }
}
