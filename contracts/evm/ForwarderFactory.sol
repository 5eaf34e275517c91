// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {DepositForwarder} from "./DepositForwarder.sol";

/// @notice Gives each payment an address of its own by CREATE2. Money can arrive there before any code does:
/// the clone is deployed when it is first flushed.
/// @dev Deployed through a deterministic deployer, so one treasury has the same deposit addresses on every chain.
contract ForwarderFactory {
    DepositForwarder public immutable implementation;

    constructor(address payable treasury) {
        implementation = new DepositForwarder(treasury);
    }

    /// @notice The deposit address of a salt, deployed or not.
    function addressOf(bytes32 salt) public view returns (address) {
        return Clones.predictDeterministicAddress(address(implementation), salt);
    }

    /// @notice Moves a token's balances of many deposit addresses to the treasury, deploying what is not yet deployed.
    function flush(bytes32[] calldata salts, IERC20 token) external {
        for (uint256 i = 0; i < salts.length; ++i) {
            address deposit = addressOf(salts[i]);
            if (deposit.code.length == 0) Clones.cloneDeterministic(address(implementation), salts[i]);
            DepositForwarder(deposit).flush(token);
        }
    }
}
