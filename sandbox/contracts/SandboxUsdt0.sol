// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {OFTAdapter} from "@layerzerolabs/oft-evm/contracts/OFTAdapter.sol";
import {MintBurnOFTAdapter} from "@layerzerolabs/oft-evm/contracts/MintBurnOFTAdapter.sol";
import {IMintableBurnable} from "@layerzerolabs/oft-evm/contracts/interfaces/IMintableBurnable.sol";

interface ISandboxSupply {
    function mint(address to, uint256 amount) external;
    function burn(address from, uint256 amount) external;
}

/// @notice USDT0's contract of Ethereum for local chains: LayerZero's own adapter, which locks USDT.
contract SandboxUsdt0Adapter is OFTAdapter {
    constructor(address token_, address endpoint_, address owner_) OFTAdapter(token_, endpoint_, owner_) Ownable(owner_) {}
}

/// @notice USDT0's contract of the other chains for local chains: LayerZero's own adapter, which burns and mints.
/// @dev `self` is the address at which the code is planted: the contract is its own minter of the sandbox token.
contract SandboxUsdt0 is MintBurnOFTAdapter, IMintableBurnable {
    constructor(
        address token_,
        address self,
        address endpoint_,
        address owner_
    ) MintBurnOFTAdapter(token_, IMintableBurnable(self), endpoint_, owner_) Ownable(owner_) {}

    function burn(address from, uint256 amount) external returns (bool) {
        require(msg.sender == address(this), "Only itself burns");
        ISandboxSupply(address(innerToken)).burn(from, amount);
        return true;
    }

    function mint(address to, uint256 amount) external returns (bool) {
        require(msg.sender == address(this), "Only itself mints");
        ISandboxSupply(address(innerToken)).mint(to, amount);
        return true;
    }
}
