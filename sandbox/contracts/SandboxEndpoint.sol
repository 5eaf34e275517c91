// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin
} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroEndpointV2.sol";
import {ILayerZeroReceiver} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroReceiver.sol";

/// @notice LayerZero's EndpointV2 for local chains, planted at its real address: the same calls, events, packets and rules of delivery.
/// @dev Only code, not storage, is planted, so settings are immutable. Any account may verify: the sandbox's verifiers have no keys.
contract SandboxEndpoint {
    uint32 public immutable eid;
    uint256 private immutable _price;

    /// @notice Present price of a message in wei, if it is not the one of the start.
    uint256 public changedPrice;
    mapping(address => mapping(uint32 => mapping(bytes32 => uint64))) public outboundNonce;
    mapping(address => mapping(uint32 => mapping(bytes32 => uint64))) public lazyInboundNonce;
    mapping(address => mapping(uint32 => mapping(bytes32 => mapping(uint64 => bytes32)))) public inboundPayloadHash;

    event PacketSent(bytes encodedPayload, bytes options, address sendLibrary);
    event PacketVerified(Origin origin, address receiver, bytes32 payloadHash);
    event PacketDelivered(Origin origin, address receiver);
    event LzReceiveAlert(
        address indexed receiver,
        address indexed executor,
        Origin origin,
        bytes32 guid,
        uint256 gas,
        uint256 value,
        bytes message,
        bytes extraData,
        bytes reason
    );

    error LZ_InsufficientFee(uint256 requiredNative, uint256 suppliedNative);
    error LZ_InvalidNonce(uint64 nonce);
    error LZ_PathNotVerifiable();
    error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual);

    constructor(uint32 eid_, uint256 price_) {
        eid = eid_;
        _price = price_;
    }

    function setPrice(uint256 price) external {
        changedPrice = price;
    }

    /// @notice Names no account: the sandbox's contracts configure nothing.
    function setDelegate(address) external {}

    function quote(MessagingParams calldata, address) external view returns (MessagingFee memory) {
        return MessagingFee(_priceNow(), 0);
    }

    function send(
        MessagingParams calldata params,
        address refundAddress
    ) external payable returns (MessagingReceipt memory) {
        uint256 price = _priceNow();
        if (msg.value < price) revert LZ_InsufficientFee(price, msg.value);
        bytes32 sender = _bytes32(msg.sender);
        uint64 nonce = ++outboundNonce[msg.sender][params.dstEid][params.receiver];
        bytes memory path = abi.encodePacked(nonce, eid, sender, params.dstEid, params.receiver);
        bytes32 guid = keccak256(path);
        emit PacketSent(bytes.concat(abi.encodePacked(uint8(1), path, guid), params.message), params.options, address(this));
        if (msg.value > price) {
            (bool returned, ) = refundAddress.call{value: msg.value - price}("");
            require(returned, "The excess was not accepted");
        }
        return MessagingReceipt(guid, nonce, MessagingFee(price, 0));
    }

    /// @dev A verified message can be verified again until its delivery, also after a later one was delivered, as in EndpointV2.
    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external {
        mapping(uint64 => bytes32) storage held = inboundPayloadHash[receiver][origin.srcEid][origin.sender];
        bool isLater = origin.nonce > lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (!isLater && held[origin.nonce] == bytes32(0)) revert LZ_PathNotVerifiable();
        held[origin.nonce] = payloadHash;
        emit PacketVerified(origin, receiver, payloadHash);
    }

    function lzReceive(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        bytes calldata message,
        bytes calldata extraData
    ) external payable {
        _clear(origin, receiver, abi.encodePacked(guid, message));
        ILayerZeroReceiver(receiver).lzReceive{value: msg.value}(origin, guid, message, msg.sender, extraData);
        emit PacketDelivered(origin, receiver);
    }

    /// @notice What an executor reports whose delivery failed. The message stays verified.
    function lzReceiveAlert(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        uint256 gas,
        uint256 value,
        bytes calldata message,
        bytes calldata extraData,
        bytes calldata reason
    ) external {
        emit LzReceiveAlert(receiver, msg.sender, origin, guid, gas, value, message, extraData, reason);
    }

    /// @dev Earlier messages of the path must be verified, in any order of delivery.
    function _clear(Origin calldata origin, address receiver, bytes memory payload) private {
        mapping(uint64 => bytes32) storage held = inboundPayloadHash[receiver][origin.srcEid][origin.sender];
        uint64 delivered = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        for (uint64 nonce = delivered + 1; nonce <= origin.nonce; ++nonce)
            if (held[nonce] == bytes32(0)) revert LZ_InvalidNonce(nonce);
        if (origin.nonce > delivered) lazyInboundNonce[receiver][origin.srcEid][origin.sender] = origin.nonce;
        bytes32 hash = keccak256(payload);
        if (held[origin.nonce] != hash) revert LZ_PayloadHashNotFound(held[origin.nonce], hash);
        delete held[origin.nonce];
    }

    function _priceNow() private view returns (uint256) {
        return changedPrice == 0 ? _price : changedPrice;
    }

    function _bytes32(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
