// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Interfaces.sol";

/// What a Bitcoin transaction says, as far as the contracts care.
struct BitcoinTx {
    uint256 inputs;
    uint256 outputs;
    bytes32 prevHash; // of input 0, as hashed
    uint32 prevIndex;
    uint32 sequence0;
    uint32 sequence1;
    uint64 value; // of the output asked for
    uint256 scriptStart;
    uint256 scriptEnd;
    uint32 lockTime;
}

library BitcoinProof {
    /// Reads a transaction serialised without witness and remembers one output. What is cut short reverts.
    function parse(bytes calldata data, uint256 wanted) internal pure returns (BitcoinTx memory t) {
        require(data.length != 64, "bitcointx: length 64"); // could be an inner node of the merkle tree
        require(data[4] != 0, "bitcointx: witness not stripped");
        uint256 at = 4;
        (t.inputs, at) = _varint(data, at);
        for (uint256 i = 0; i < t.inputs; i++) {
            if (i == 0) {
                t.prevHash = bytes32(data[at:at + 32]);
                t.prevIndex = le32(data, at + 32);
            }
            uint256 size;
            (size, at) = _varint(data, at + 36);
            at += size;
            uint32 sequence = le32(data, at);
            if (i == 0) t.sequence0 = sequence;
            else if (i == 1) t.sequence1 = sequence;
            at += 4;
        }
        (t.outputs, at) = _varint(data, at);
        for (uint256 i = 0; i < t.outputs; i++) {
            uint256 start = at;
            uint256 size;
            (size, at) = _varint(data, at + 8);
            if (i == wanted) {
                t.value = le64(data, start);
                t.scriptStart = at;
                t.scriptEnd = at + size;
            }
            at += size;
            require(at <= data.length);
        }
        t.lockTime = le32(data, at);
        require(at + 4 == data.length, "bitcointx: more data");
    }

    function doubleHash(bytes memory data) internal pure returns (bytes32) {
        return sha256(abi.encodePacked(sha256(data)));
    }

    /// Reverts unless the transaction stands at a position under the header's merkle root. hashes are the siblings,
    /// leaf level first, 32 bytes each.
    function verify(bytes32 txHash, bytes32 root, uint256 position, bytes calldata hashes) internal view {
        assembly ("memory-safe") {
            let end := add(hashes.offset, hashes.length)
            for { let at := hashes.offset } lt(at, end) { at := add(at, 32) } {
                switch and(position, 1)
                case 0 {
                    mstore(0, txHash)
                    mstore(32, calldataload(at))
                }
                default {
                    mstore(0, calldataload(at))
                    mstore(32, txHash)
                }
                if iszero(staticcall(gas(), 2, 0, 64, 0, 32)) { revert(0, 0) }
                if iszero(staticcall(gas(), 2, 0, 32, 0, 32)) { revert(0, 0) }
                txHash := mload(0)
                position := shr(1, position)
            }
        }
        require(txHash == root && position == 0, "merkleTree: verify failed");
    }

    /// Bytes 36 to 67 of the header.
    function merkleRoot(StoredHeader memory h) internal pure returns (bytes32) {
        return bytes32((uint256(h.data[1]) << 32) | (uint256(h.data[2]) >> 224));
    }

    function le32(bytes calldata data, uint256 at) internal pure returns (uint32) {
        uint256 v = uint32(bytes4(data[at:at + 4]));
        v = ((v & 0xff00ff00) >> 8) | ((v & 0x00ff00ff) << 8);
        return uint32((v >> 16) | (v << 16));
    }

    function le64(bytes calldata data, uint256 at) internal pure returns (uint64) {
        return (uint64(le32(data, at + 4)) << 32) | le32(data, at);
    }

    function _varint(bytes calldata data, uint256 at) private pure returns (uint256 value, uint256 next) {
        uint8 first = uint8(data[at]);
        if (first < 0xfd) return (first, at + 1);
        if (first == 0xfd) return (uint8(data[at + 1]) | (uint256(uint8(data[at + 2])) << 8), at + 3);
        if (first == 0xfe) return (le32(data, at + 1), at + 5);
        return (le64(data, at + 1), at + 9);
    }
}
