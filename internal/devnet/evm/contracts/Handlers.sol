// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./BitcoinProof.sol";
import "./Interfaces.sol";

/// Claim data: SHA-256 of a secret. Witness: the secret.
contract HashlockHandler is IClaimHandler {
    function claim(bytes32 claimData, bytes calldata witness) external pure returns (bytes memory) {
        require(witness.length == 32, "hashlock: Invalid witness len");
        require(sha256(witness) == claimData, "hashlock: Invalid witness");
        return witness;
    }
}

/// Refund data: Unix time. Witness: empty.
contract TimelockHandler is IRefundHandler {
    function refund(bytes32 refundData, bytes calldata witness) external view returns (bytes memory) {
        require(witness.length == 0, "timestampLock: witness len!=0");
        require(block.timestamp > uint256(refundData), "timestampLock: not expired");
        return abi.encode(refundData);
    }
}

/// The parts that the witnesses of all Bitcoin proofs begin with: the commitment C (32 bytes that say what is to be
/// proven, uint32 confirmations, the relay's address) and a stored header.
library Witness {
    uint256 internal constant HEADER = 56;
    uint256 internal constant REST = 216;

    function header(bytes calldata witness) internal pure returns (StoredHeader memory h) {
        for (uint256 i = 0; i < 5; i++) {
            h.data[i] = bytes32(witness[HEADER + 32 * i:HEADER + 32 * i + 32]);
        }
    }

    function deepEnough(bytes calldata witness, StoredHeader memory h) internal view returns (bool) {
        uint256 confirmations = uint32(bytes4(witness[32:36]));
        return IBtcRelay(address(bytes20(witness[36:56]))).verifyBlockheader(h) >= confirmations;
    }

    /// A uint32 position, a uint256 count and as many hashes up to the end of the witness; false if that does not fit.
    function proof(bytes calldata witness, uint256 at)
        internal
        pure
        returns (bool ok, uint256 position, bytes calldata hashes)
    {
        hashes = witness[:0];
        if (witness.length < at + 36) return (false, 0, hashes);
        uint256 count = uint256(bytes32(witness[at + 4:at + 36]));
        if (count > witness.length || witness.length != at + 36 + 32 * count) return (false, 0, hashes);
        return (true, uint32(bytes4(witness[at:at + 4])), witness[at + 36:]);
    }
}

/// C is about a transaction.
contract TxIdHandler is IClaimHandler {
    function claim(bytes32 claimData, bytes calldata witness) external view returns (bytes memory) {
        (bool ok, uint256 position, bytes calldata hashes) = Witness.proof(witness, Witness.REST);
        require(ok, "txidlock: witness length");
        require(keccak256(witness[:56]) == claimData, "txidlock: invalid commitment");
        StoredHeader memory header = Witness.header(witness);
        require(Witness.deepEnough(witness, header), "txidlock: confirmations");
        bytes32 txHash = bytes32(witness[:32]);
        BitcoinProof.verify(txHash, BitcoinProof.merkleRoot(header), position, hashes);
        return abi.encode(txHash);
    }
}

/// C is about an output of any transaction.
abstract contract OutputProof is IClaimHandler {
    function _claim(bytes32 claimData, bytes calldata witness, string memory name)
        internal
        view
        returns (bytes memory)
    {
        require(witness.length >= Witness.REST + 36, string.concat(name, ": witness length"));
        uint256 size = uint256(bytes32(witness[220:252]));
        require(size < witness.length, string.concat(name, ": witness length"));
        (bool ok, uint256 position, bytes calldata hashes) = Witness.proof(witness, 252 + size);
        require(ok, string.concat(name, ": witness length"));
        require(keccak256(witness[:56]) == claimData, string.concat(name, ": invalid commitment"));
        StoredHeader memory header = Witness.header(witness);
        require(Witness.deepEnough(witness, header), string.concat(name, ": confirmations"));

        bytes calldata transaction = witness[252:252 + size];
        uint256 vout = uint32(bytes4(witness[216:220]));
        BitcoinTx memory t = BitcoinProof.parse(transaction, vout);
        require(vout < t.outputs, string.concat(name, ": Invalid output"));
        bytes32 script = keccak256(transaction[t.scriptStart:t.scriptEnd]);
        require(_output(t, script) == bytes32(witness[:32]), string.concat(name, ": Invalid output"));

        bytes32 txHash = BitcoinProof.doubleHash(transaction);
        BitcoinProof.verify(txHash, BitcoinProof.merkleRoot(header), position, hashes);
        return abi.encode(txHash);
    }

    /// What C is about, computed from the transaction.
    function _output(BitcoinTx memory t, bytes32 scriptHash) internal pure virtual returns (bytes32);
}

contract OutputHandler is OutputProof {
    function claim(bytes32 claimData, bytes calldata witness) external view returns (bytes memory) {
        return _claim(claimData, witness, "btcoutlock");
    }

    function _output(BitcoinTx memory t, bytes32 scriptHash) internal pure override returns (bytes32) {
        return keccak256(abi.encodePacked(t.value, scriptHash));
    }
}

/// The transaction carries a nonce in its lock time and the sequence number of its first input.
contract NoncedOutputHandler is OutputProof {
    function claim(bytes32 claimData, bytes calldata witness) external view returns (bytes memory) {
        return _claim(claimData, witness, "btcnoutlock");
    }

    function _output(BitcoinTx memory t, bytes32 scriptHash) internal pure override returns (bytes32) {
        require(t.sequence0 & 0xf0000000 == 0xf0000000, "btcnoutlock: nSequence bits");
        require(t.lockTime >= 500_000_000, "btcnoutlock: Invalid output"); // no nonce can be below zero
        uint64 nonce = (uint64(t.lockTime - 500_000_000) << 24) | (t.sequence0 & 0x00ffffff);
        return keccak256(abi.encodePacked(nonce, t.value, scriptHash));
    }
}
