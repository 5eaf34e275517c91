// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ShortString, ShortStrings} from "@openzeppelin/contracts/utils/ShortStrings.sol";

/// @notice A stablecoin for local chains, planted at the real token's address. Anybody may mint and burn.
/// @dev Everything that a constructor sets is immutable, because only code, not storage, is planted.
contract SandboxToken is ERC20 {
    using ShortStrings for *;

    ShortString private immutable _label;
    uint8 private immutable _decimals;

    /// @notice Accounts that the issuer has frozen, as the real USDC can.
    mapping(address => bool) public frozen;

    error Frozen(address account);

    constructor(string memory label, uint8 decimals_) ERC20("", "") {
        _label = label.toShortString();
        _decimals = decimals_;
    }

    function name() public view virtual override returns (string memory) {
        return _label.toString();
    }

    function symbol() public view override returns (string memory) {
        return _label.toString();
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice USDT0's contract burns without an allowance.
    function burn(address from, uint256 amount) external {
        _burn(from, amount);
    }

    function setFrozen(address account, bool value) external {
        frozen[account] = value;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (frozen[from]) revert Frozen(from);
        if (frozen[to]) revert Frozen(to);
        super._update(from, to, amount);
    }
}
