// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./BitcoinProof.sol";

/// What a withdrawal asks of a vault, in raw units.
struct BtcVaultTx {
    address recipient;
    uint64 amount0;
    uint64 amount1;
    uint64 callerFee0;
    uint64 callerFee1;
    uint64 frontingFee0;
    uint64 frontingFee1;
    uint64 executionHandlerFeeAmount0;
    bytes32 executionHash;
    uint256 executionExpiry;
}

library Withdrawals {
    /// Reads the withdrawal from output 1, sequence numbers and lock time. problem is empty if all is well.
    /// t was parsed with output 1 asked for.
    function read(bytes calldata transaction, BitcoinTx memory t)
        internal
        pure
        returns (BtcVaultTx memory w, string memory problem)
    {
        if (t.inputs < 2) return (w, "parse: input count");
        if (t.outputs < 2) return (w, "parse: output count");
        bytes calldata script = transaction[t.scriptStart:t.scriptEnd];
        uint256 size = script.length;
        if (size != 30 && size != 38 && size != 62 && size != 70) return (w, "parse: output 1 length");
        if (script[0] != 0x6a) return (w, "parse: output 1 not op_return");

        w.recipient = address(bytes20(script[2:22]));
        if (w.recipient == address(0)) return (w, "parse: zero recipient");
        w.amount0 = uint64(bytes8(script[22:30]));
        if (size == 38 || size == 70) w.amount1 = uint64(bytes8(script[30:38]));
        if (size >= 62) w.executionHash = bytes32(script[size - 32:]);
        w.executionExpiry = uint256(t.lockTime) + 1_000_000_000;

        uint256 callerRate = t.sequence0 & 0xfffff;
        uint256 executionRate = t.sequence1 & 0xfffff;
        uint256 frontingRate = ((t.sequence0 >> 10) & 0xffc00) | ((t.sequence1 >> 20) & 0x3ff);
        if (!_sumsFit(w.amount0, callerRate, frontingRate, executionRate)) return (w, "parse: amount 0 overflow");
        if (!_sumsFit(w.amount1, callerRate, frontingRate, 0)) return (w, "parse: amount 1 overflow");
        w.callerFee0 = uint64(_fee(w.amount0, callerRate));
        w.callerFee1 = uint64(_fee(w.amount1, callerRate));
        w.frontingFee0 = uint64(_fee(w.amount0, frontingRate));
        w.frontingFee1 = uint64(_fee(w.amount1, frontingRate));
        w.executionHandlerFeeAmount0 = uint64(_fee(w.amount0, executionRate));
    }

    /// All that is taken of token 0 and of token 1.
    function totals(BtcVaultTx memory w) internal pure returns (uint64 total0, uint64 total1) {
        total0 = w.amount0 + w.callerFee0 + w.frontingFee0 + w.executionHandlerFeeAmount0;
        total1 = w.amount1 + w.callerFee1 + w.frontingFee1;
    }

    function frontingId(BtcVaultTx memory w, bytes32 btcTxHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(keccak256(abi.encode(w)), btcTxHash));
    }

    /// Rates are parts per 100 000.
    function _fee(uint256 amount, uint256 rate) private pure returns (uint256) {
        return amount * rate / 100_000;
    }

    function _sumsFit(uint256 amount, uint256 a, uint256 b, uint256 c) private pure returns (bool) {
        return amount + _fee(amount, a) + _fee(amount, b) + _fee(amount, c) <= type(uint64).max;
    }
}
