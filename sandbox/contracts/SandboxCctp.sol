// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface ISandboxToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function mint(address to, uint256 amount) external;
}

/// @notice Circle's MessageTransmitterV2 for local chains, planted at its real address: the same calls, events and bytes.
/// @dev Everything is immutable, because only code, not storage, is planted. Two attesters sign, in ascending order, as on the real chains.
contract SandboxMessageTransmitter {
    uint32 public immutable localDomain;
    address public immutable messenger;
    address public immutable firstAttester;
    address public immutable secondAttester;

    /// @notice 1 for a nonce whose message was received.
    mapping(bytes32 => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    constructor(uint32 localDomain_, address messenger_, address firstAttester_, address secondAttester_) {
        localDomain = localDomain_;
        messenger = messenger_;
        firstAttester = firstAttester_;
        secondAttester = secondAttester_;
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata body
    ) external {
        require(destinationDomain != localDomain, "Domain is local domain");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        emit MessageSent(
            bytes.concat(
                abi.encodePacked(uint32(1), localDomain, destinationDomain, bytes32(0), sender, recipient),
                abi.encodePacked(destinationCaller, minFinalityThreshold, uint32(0), body)
            )
        );
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool) {
        _verify(message, attestation);
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 destinationCaller = bytes32(message[108:140]);
        require(
            destinationCaller == bytes32(0) || destinationCaller == bytes32(uint256(uint160(msg.sender))),
            "Invalid caller for message"
        );
        require(uint32(bytes4(message[0:4])) == 1, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        require(bytes32(message[76:108]) == bytes32(uint256(uint160(messenger))), "Invalid recipient");
        uint32 sourceDomain = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        uint32 executed = uint32(bytes4(message[144:148]));
        SandboxTokenMessenger(messenger).handleReceivedMessage(sourceDomain, sender, executed, message[148:]);
        emit MessageReceived(msg.sender, sourceDomain, nonce, sender, executed, message[148:]);
        return true;
    }

    function _verify(bytes calldata message, bytes calldata attestation) private view {
        require(attestation.length == 130, "Invalid attestation length");
        bytes32 digest = keccak256(message);
        require(_signer(digest, attestation[0:65]) == firstAttester, "Invalid signature: not attester");
        require(_signer(digest, attestation[65:130]) == secondAttester, "Invalid signature: not attester");
    }

    function _signer(bytes32 digest, bytes calldata signature) private pure returns (address) {
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }
}

/// @notice Circle's TokenMessengerV2 for local chains, planted at its real address.
/// @dev The tokens of a burn stay with the minter's address, which the real one destroys. Anybody may mint the sandbox token.
contract SandboxTokenMessenger {
    address public immutable transmitter;
    address public immutable minter;
    address public immutable localToken;
    address public immutable feeRecipient;
    /// @notice Messengers of Stellar's and of Solana's domain. Those of the other domains have this contract's address.
    bytes32 public immutable stellarMessenger;
    bytes32 public immutable solanaMessenger;
    uint32 private constant STELLAR = 27;
    uint32 private constant SOLANA = 5;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient,
        uint256 amount,
        address indexed mintToken,
        uint256 feeCollected
    );

    constructor(
        address transmitter_,
        address minter_,
        address localToken_,
        address feeRecipient_,
        bytes32 stellarMessenger_,
        bytes32 solanaMessenger_
    ) {
        solanaMessenger = solanaMessenger_;
        stellarMessenger = stellarMessenger_;
        transmitter = transmitter_;
        minter = minter_;
        localToken = localToken_;
        feeRecipient = feeRecipient_;
    }

    /// @notice The names that Circle's contract has for its parts.
    function localMessageTransmitter() external view returns (address) {
        return transmitter;
    }

    function localMinter() external view returns (address) {
        return minter;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        _burn(Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold, ""));
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        _burn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold, hookData)
        );
    }

    struct Burn {
        uint256 amount;
        uint32 destinationDomain;
        bytes32 mintRecipient;
        address burnToken;
        bytes32 destinationCaller;
        uint256 maxFee;
        uint32 threshold;
        bytes hookData;
    }

    function _burn(Burn memory burn) private {
        require(burn.amount > 0, "Amount must be nonzero");
        require(burn.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(burn.maxFee < burn.amount, "Max fee must be less than amount");
        require(burn.burnToken == localToken, "Burn token not supported");
        require(ISandboxToken(burn.burnToken).transferFrom(msg.sender, minter, burn.amount), "Transfer operation failed");
        bytes32 messenger = _messengerOf(burn.destinationDomain);
        SandboxMessageTransmitter(transmitter).sendMessage(
            burn.destinationDomain,
            messenger,
            burn.destinationCaller,
            burn.threshold,
            _body(burn)
        );
        emit DepositForBurn(
            burn.burnToken,
            burn.amount,
            msg.sender,
            burn.mintRecipient,
            burn.destinationDomain,
            messenger,
            burn.destinationCaller,
            burn.maxFee,
            burn.threshold,
            burn.hookData
        );
    }

    function _messengerOf(uint32 domain) private view returns (bytes32) {
        if (domain == SOLANA) return solanaMessenger;
        return domain == STELLAR ? stellarMessenger : bytes32(uint256(uint160(address(this))));
    }

    function _body(Burn memory burn) private view returns (bytes memory) {
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes32 token = bytes32(uint256(uint160(burn.burnToken)));
        return
            bytes.concat(
                abi.encodePacked(uint32(1), token, burn.mintRecipient, burn.amount, sender, burn.maxFee),
                abi.encodePacked(uint256(0), uint256(0), burn.hookData)
            );
    }

    function handleReceivedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body) external {
        require(msg.sender == transmitter, "Invalid message transmitter");
        require(sender == _messengerOf(domain), "Remote TokenMessenger unsupported");
        require(uint32(bytes4(body[0:4])) == 1, "Invalid message body version");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        ISandboxToken(localToken).mint(recipient, amount - fee);
        if (fee > 0) ISandboxToken(localToken).mint(feeRecipient, fee);
        emit MintAndWithdraw(recipient, amount - fee, localToken, fee);
    }
}
