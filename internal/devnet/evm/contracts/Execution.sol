// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Money.sol";

struct Execution {
    address token;
    bytes32 executionActionHash;
    uint256 amount;
    uint256 executionFee;
    uint256 expiry;
}

/// Keeps tokens for a call that their owner wants made. This network makes no such calls: the owner takes the tokens
/// back, or anybody sends them back for the fee once the time is over.
contract ExecutionContract is Money {
    event ExecutionCreated(address indexed owner, bytes32 indexed salt, bytes32 indexed executionHash);
    event ExecutionProcessed(
        address indexed owner, bytes32 indexed salt, bytes32 indexed executionHash, bool success, bytes callResult
    );

    mapping(address owner => mapping(bytes32 salt => bytes32 executionHash)) private commitments;

    constructor(IWrappedNative wrappedNative) Money(wrappedNative) {}

    function create(address owner, bytes32 creatorSalt, Execution calldata execution) external payable {
        bytes32 salt = keccak256(abi.encode(msg.sender, creatorSalt));
        require(commitments[owner][salt] == 0, "create: Already initiated");
        bytes32 hash = keccak256(abi.encode(execution));
        commitments[owner][salt] = hash;
        _take(execution.token, msg.sender, execution.amount + execution.executionFee);
        emit ExecutionCreated(owner, salt, hash);
    }

    function refundExpired(address owner, bytes32 salt, Execution calldata execution) external {
        require(block.timestamp > execution.expiry, "refundExpired: not expired yet");
        _finish(owner, salt, execution);
        _give(execution.token, owner, execution.amount);
        _give(execution.token, msg.sender, execution.executionFee);
    }

    function refund(bytes32 salt, Execution calldata execution) external {
        _finish(msg.sender, salt, execution);
        _give(execution.token, msg.sender, execution.amount + execution.executionFee);
    }

    function getExecutionCommitmentHash(address owner, bytes32 salt) external view returns (bytes32) {
        return commitments[owner][salt];
    }

    function _finish(address owner, bytes32 salt, Execution calldata execution) private {
        bytes32 hash = keccak256(abi.encode(execution));
        require(commitments[owner][salt] == hash, "_finish: execution commitment");
        delete commitments[owner][salt];
        emit ExecutionProcessed(owner, salt, hash, false, "");
    }
}
