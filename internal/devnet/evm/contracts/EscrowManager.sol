// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Escrow.sol";
import "./Money.sol";
import "./Signatures.sol";

/// Escrows, the balances of liquidity providers, and their reputation.
contract EscrowManager is Money, Signatures {
    using Escrows for Escrow;

    uint8 private constant COMMITTED = 1;
    uint8 private constant CLAIMED = 2;
    uint8 private constant REFUNDED = 3;

    uint256 private constant SUCCESS = 0;
    uint256 private constant COOPERATIVE = 1;
    uint256 private constant FAILED = 2;

    event Initialize(
        address indexed offerer,
        address indexed claimer,
        bytes32 indexed escrowHash,
        address claimHandler,
        address refundHandler
    );
    event Claim(
        address indexed offerer,
        address indexed claimer,
        bytes32 indexed escrowHash,
        address claimHandler,
        bytes witnessResult
    );
    event Refund(
        address indexed offerer,
        address indexed claimer,
        bytes32 indexed escrowHash,
        address refundHandler,
        bytes witnessResult
    );
    event ExecutionError(bytes32 indexed escrowHash, bytes error);

    mapping(bytes32 escrowHash => EscrowState) private states;
    mapping(address owner => mapping(address token => uint256)) private balances;
    mapping(address owner => mapping(address token => mapping(address claimHandler => Reputation[3]))) private reputations;

    constructor(IWrappedNative wrappedNative) Money(wrappedNative) {}

    function initialize(Escrow calldata escrow, bytes calldata signature, uint256 timeout, bytes calldata extraData)
        external
        payable
    {
        require(block.timestamp < timeout, "init: Authorization expired");
        bytes32 escrowHash = escrow.hash();
        require(states[escrowHash].state == 0, "_commit: Already committed");
        states[escrowHash] = EscrowState(uint64(block.number), 0, COMMITTED);

        if (msg.sender == escrow.offerer) {
            if (escrow.reputation()) _checkInit(escrow.claimer, escrow, escrowHash, signature, timeout, extraData);
        } else {
            require(msg.sender == escrow.claimer, "init: Caller address");
            _checkInit(escrow.offerer, escrow, escrowHash, signature, timeout, extraData);
        }

        uint256 extra = escrow.totalDeposit();
        if (!escrow.payIn()) {
            _takeBalance(escrow.offerer, escrow.token, escrow.amount, "_xferIn: not enough balance");
        } else if (msg.sender == escrow.offerer && escrow.token == escrow.depositToken) {
            _take(escrow.token, msg.sender, escrow.amount + extra);
            extra = 0;
        } else {
            _take(escrow.token, escrow.offerer, escrow.amount);
        }
        if (extra != 0) _take(escrow.depositToken, msg.sender, extra);

        emit Initialize(escrow.offerer, escrow.claimer, escrowHash, escrow.claimHandler, escrow.refundHandler);
    }

    function claim(Escrow calldata escrow, bytes calldata witness) external {
        require(escrow.successActionCommitment == 0, "claim: has success action");
        bytes32 escrowHash = _finalize(escrow, CLAIMED, SUCCESS);
        bytes memory result = IClaimHandler(escrow.claimHandler).claim(escrow.claimData, witness);

        _payParty(escrow.payOut(), escrow.claimer, escrow.token, escrow.amount);
        _give(escrow.depositToken, msg.sender, escrow.claimerBounty);
        if (escrow.securityDeposit > escrow.claimerBounty) {
            _give(escrow.depositToken, escrow.claimer, escrow.securityDeposit - escrow.claimerBounty);
        }
        emit Claim(escrow.offerer, escrow.claimer, escrowHash, escrow.claimHandler, result);
    }

    /// This network has no contract calls after a claim, and escrows that want one cannot be claimed.
    function claimWithSuccessAction(Escrow calldata, bytes calldata, ExecutionAction calldata) external {
        revert("claim: no success actions here");
    }

    function refund(Escrow calldata escrow, bytes calldata witness) external {
        bytes32 escrowHash = _finalize(escrow, REFUNDED, FAILED);
        bytes memory result = IRefundHandler(escrow.refundHandler).refund(escrow.refundData, witness);

        _payParty(escrow.payIn(), escrow.offerer, escrow.token, escrow.amount);
        _give(escrow.depositToken, escrow.offerer, escrow.securityDeposit);
        if (escrow.claimerBounty > escrow.securityDeposit) {
            _give(escrow.depositToken, escrow.claimer, escrow.claimerBounty - escrow.securityDeposit);
        }
        emit Refund(escrow.offerer, escrow.claimer, escrowHash, escrow.refundHandler, result);
    }

    function cooperativeRefund(Escrow calldata escrow, bytes calldata signature, uint256 timeout) external {
        require(block.timestamp < timeout, "coopRefund: Auth expired");
        bytes32 escrowHash = _finalize(escrow, REFUNDED, COOPERATIVE);
        require(
            _signedBy(escrow.claimer, _refundDigest(escrowHash, timeout), signature), "coopRefund: invalid signature"
        );
        _give(escrow.depositToken, escrow.claimer, escrow.totalDeposit());
        _payParty(escrow.payIn(), escrow.offerer, escrow.token, escrow.amount);
        emit Refund(escrow.offerer, escrow.claimer, escrowHash, address(0), "");
    }

    function deposit(address token, uint256 amount) external payable {
        _take(token, msg.sender, amount);
        balances[msg.sender][token] += amount;
    }

    function withdraw(address token, uint256 amount, address destination) external {
        _takeBalance(msg.sender, token, amount, "withdraw: not enough balance");
        _give(token, destination, amount);
    }

    function getBalance(BalanceQuery[] calldata data) external view returns (uint256[] memory found) {
        found = new uint256[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            found[i] = balances[data[i].owner][data[i].token];
        }
    }

    function getReputation(ReputationQuery[] calldata data) external view returns (Reputation[3][] memory found) {
        found = new Reputation[3][](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            found[i] = reputations[data[i].owner][data[i].token][data[i].claimHandler];
        }
    }

    function getState(Escrow calldata escrow) external view returns (EscrowState memory state) {
        return states[escrow.hash()];
    }

    function getHashState(bytes32 escrowHash) external view returns (EscrowState memory state) {
        return states[escrowHash];
    }

    function getHashStateMultiple(bytes32[] calldata escrowHashes) external view returns (EscrowState[] memory found) {
        found = new EscrowState[](escrowHashes.length);
        for (uint256 i = 0; i < escrowHashes.length; i++) {
            found[i] = states[escrowHashes[i]];
        }
    }

    function _checkInit(
        address signer,
        Escrow calldata escrow,
        bytes32 escrowHash,
        bytes calldata signature,
        uint256 timeout,
        bytes calldata extraData
    ) private view {
        bytes32 digest = _initDigest(escrow, escrowHash, timeout, extraData);
        require(_signedBy(signer, digest, signature), "init: invalid signature");
    }

    function _finalize(Escrow calldata escrow, uint8 state, uint256 outcome) private returns (bytes32 escrowHash) {
        escrowHash = escrow.hash();
        EscrowState memory stored = states[escrowHash];
        require(stored.state == COMMITTED, "_finalize: Not committed");
        states[escrowHash] = EscrowState(stored.initBlockheight, uint64(block.number), state);
        if (!escrow.reputation()) return escrowHash;

        Reputation storage slot = reputations[escrow.claimer][escrow.token][escrow.claimHandler][outcome];
        Reputation memory known = slot;
        uint256 room = type(uint224).max - known.amount;
        known.amount += uint224(escrow.amount < room ? escrow.amount : room);
        if (known.count != type(uint32).max) known.count++;
        slot.amount = known.amount;
        slot.count = known.count;
    }

    function _takeBalance(address owner, address token, uint256 amount, string memory problem) private {
        uint256 balance = balances[owner][token];
        require(balance >= amount, problem);
        balances[owner][token] = balance - amount;
    }

    function _payParty(bool toWallet, address party, address token, uint256 amount) private {
        if (toWallet) _give(token, party, amount);
        else balances[party][token] += amount;
    }
}
