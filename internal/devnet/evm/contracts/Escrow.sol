// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

struct Escrow {
    address offerer;
    address claimer;
    uint256 amount;
    address token;
    uint256 flags; // payOut 1, payIn 2, reputation 4, sequence from bit 64
    address claimHandler;
    bytes32 claimData;
    address refundHandler;
    bytes32 refundData;
    uint256 securityDeposit;
    uint256 claimerBounty;
    address depositToken;
    bytes32 successActionCommitment;
}

struct EscrowState {
    uint64 initBlockheight;
    uint64 finishBlockheight;
    uint8 state;
}

struct Reputation {
    uint224 amount;
    uint32 count;
}

struct BalanceQuery {
    address owner;
    address token;
}

struct ReputationQuery {
    address owner;
    address token;
    address claimHandler;
}

struct ContractCall {
    address target;
    uint256 value;
    bytes data;
}

struct ExecutionAction {
    uint256 gasLimit;
    address[] drainTokens;
    ContractCall[] calls;
}

library Escrows {
    function hash(Escrow calldata e) internal pure returns (bytes32) {
        return keccak256(abi.encode(e));
    }

    function payOut(Escrow calldata e) internal pure returns (bool) {
        return e.flags & 1 != 0;
    }

    function payIn(Escrow calldata e) internal pure returns (bool) {
        return e.flags & 2 != 0;
    }

    function reputation(Escrow calldata e) internal pure returns (bool) {
        return e.flags & 4 != 0;
    }

    function totalDeposit(Escrow calldata e) internal pure returns (uint256) {
        return e.securityDeposit > e.claimerBounty ? e.securityDeposit : e.claimerBounty;
    }
}
