// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Interfaces.sol";

/// A stored header in memory, 160 bytes, that is turned into its successor again and again:
///
///   0    80 bytes of the block header
///   80   uint256 work of the chain up to it
///   112  uint32 height
///   116  uint32 time of the last difficulty adjustment
///   120  10 times uint32: times of the blocks before it, oldest first
library HeaderWalk {
    uint256 private constant FUTURE = 4 hours; // that a header's time may be ahead

    function load(bytes calldata data) internal pure returns (uint256 at) {
        assembly ("memory-safe") {
            at := mload(0x40)
            mstore(0x40, add(at, 192))
            calldatacopy(at, data.offset, 160)
        }
    }

    function copy(StoredHeader memory h) internal pure returns (uint256 at) {
        bytes32[5] memory words = h.data;
        assembly ("memory-safe") {
            at := mload(0x40)
            mstore(0x40, add(at, 192))
            mcopy(at, words, 160)
        }
    }

    function commit(uint256 at) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(at, 160)
        }
    }

    function blockHash(uint256 at) internal view returns (bytes32 hash) {
        assembly ("memory-safe") {
            if iszero(staticcall(gas(), 2, at, 80, 0, 32)) { revert(0, 0) }
            if iszero(staticcall(gas(), 2, 0, 32, 0, 32)) { revert(0, 0) }
            hash := mload(0)
        }
    }

    function work(uint256 at) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := mload(add(at, 80))
        }
    }

    function height(uint256 at) internal pure returns (uint32) {
        return _uint32(at, 112);
    }

    /// Makes of the header at `at`, whose hash is given, its successor, whose 48 bytes stand in data at i: version,
    /// merkle root, time, nBits, nonce.
    function next(uint256 at, bytes calldata data, uint256 i, bytes32 previous, uint256 easiest)
        internal
        view
        returns (bytes32 hash)
    {
        uint256 previousTime = _swap32(_uint32(at, 68));
        assembly ("memory-safe") {
            let from := add(data.offset, i)
            calldatacopy(at, from, 4)
            mstore(add(at, 4), previous)
            calldatacopy(add(at, 36), add(from, 4), 44)
        }
        uint256 time = _swap32(_uint32(at, 68));
        _checkTime(at, previousTime, time);

        hash = blockHash(at);
        uint256 bound = _target(_swap32(_uint32(at, 72)));
        require(bound <= easiest, "header: target too easy");
        require(_swap256(uint256(hash)) < bound, "header: work");

        uint256 total = work(at) + (~bound / (bound + 1)) + 1;
        uint256 newHeight = uint256(height(at)) + 1;
        require(newHeight <= type(uint32).max, "header: height");
        uint256 adjusted = newHeight % 2016 == 0 ? time : _uint32(at, 116);
        assembly ("memory-safe") {
            mstore(add(at, 80), total)
            mcopy(add(at, 120), add(at, 124), 36)
            let word := and(mload(add(at, 112)), sub(shl(192, 1), 1))
            mstore(add(at, 112), or(word, or(shl(224, newHeight), shl(192, adjusted))))
            word := and(mload(add(at, 128)), not(0xffffffff))
            mstore(add(at, 128), or(word, previousTime))
        }
    }

    /// The time must be above the median of the eleven blocks before: above six of them at least.
    function _checkTime(uint256 at, uint256 previousTime, uint256 time) private view {
        uint256 below = previousTime < time ? 1 : 0;
        assembly ("memory-safe") {
            for { let p := add(at, 120) } lt(p, add(at, 160)) { p := add(p, 4) } {
                below := add(below, lt(shr(224, mload(p)), time))
            }
        }
        require(below >= 6, "header: time not above median");
        require(time < block.timestamp + FUTURE, "header: time in future");
    }

    /// nBits: an exponent byte, a sign bit that is dropped, 23 bits of mantissa.
    function _target(uint256 bits) private pure returns (uint256 value) {
        uint256 exponent = bits >> 24;
        uint256 mantissa = bits & 0x7fffff;
        require(exponent <= 32, "header: nBits");
        value = exponent < 3 ? mantissa >> (8 * (3 - exponent)) : mantissa << (8 * (exponent - 3));
    }

    function _uint32(uint256 at, uint256 offset) private pure returns (uint32 value) {
        assembly ("memory-safe") {
            value := shr(224, mload(add(at, offset)))
        }
    }

    function _swap32(uint256 v) private pure returns (uint256) {
        v = ((v & 0xff00ff00) >> 8) | ((v & 0x00ff00ff) << 8);
        return ((v >> 16) | (v << 16)) & 0xffffffff;
    }

    function _swap256(uint256 v) private pure returns (uint256) {
        unchecked {
            uint256 m = 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
            v = ((v >> 8) & m) | ((v & m) << 8);
            m = 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff;
            v = ((v >> 16) & m) | ((v & m) << 16);
            m = 0x00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff;
            v = ((v >> 32) & m) | ((v & m) << 32);
            m = 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff;
            v = ((v >> 64) & m) | ((v & m) << 64);
            return (v >> 128) | (v << 128);
        }
    }
}
