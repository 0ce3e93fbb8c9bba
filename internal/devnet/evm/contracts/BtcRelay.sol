// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./HeaderWalk.sol";
import "./Interfaces.sol";

/// A light client of Bitcoin that takes each header's own nBits, as the network's testnet relay does, and stores of
/// each header only the hash of its 160 bytes (see HeaderWalk).
///
/// The constructor's arguments are the 160 bytes of the first header and one more word, which clients rely on when
/// they look for the first header in the init code.
contract BtcRelay is IBtcRelay {
    event StoreHeader(bytes32 indexed commitHash, bytes32 indexed blockHash);
    event StoreForkHeader(bytes32 indexed commitHash, bytes32 indexed blockHash, uint256 indexed forkId);
    event ChainReorg(
        bytes32 indexed commitHash,
        bytes32 indexed blockHash,
        uint256 indexed forkId,
        address submitter,
        uint256 startHeight
    );

    struct Fork {
        uint32 start; // height of its first own header; 0 while there is none
        uint32 tip;
        mapping(uint256 height => bytes32) commits; // from start - 1, which is the main chain's
    }

    uint256 private immutable easiest;
    uint32 private tipHeight;
    uint224 private tipWork;
    mapping(uint256 height => bytes32) private commits;
    mapping(address submitter => mapping(uint256 forkId => Fork)) private forks;

    /// easiestTarget: headers that promise less work are refused.
    constructor(StoredHeader memory first, uint256 easiestTarget) {
        easiest = easiestTarget;
        uint256 at = HeaderWalk.copy(first);
        tipHeight = HeaderWalk.height(at);
        tipWork = uint224(HeaderWalk.work(at));
        commits[tipHeight] = HeaderWalk.commit(at);
        emit StoreHeader(HeaderWalk.commit(at), HeaderWalk.blockHash(at));
    }

    function submitMainBlockheaders(bytes calldata data) external {
        uint256 at = _load(data);
        require(HeaderWalk.commit(at) == commits[tipHeight], "submitMain: block commitment");
        (uint32 height,,) = _store(data, at);
        _setTip(height, HeaderWalk.work(at));
    }

    function submitShortForkBlockheaders(bytes calldata data) external {
        uint256 at = _load(data);
        uint32 start = HeaderWalk.height(at) + 1;
        require(start <= tipHeight + 1 && HeaderWalk.commit(at) == commits[start - 1], "shortFork: block commitment");
        (uint32 height, bytes32 commit, bytes32 hash) = _store(data, at);
        require(HeaderWalk.work(at) > tipWork, "shortFork: not enough work");
        _setTip(height, HeaderWalk.work(at));
        emit ChainReorg(commit, hash, 0, msg.sender, start);
    }

    function submitForkBlockheaders(uint256 forkId, bytes calldata data) external {
        require(forkId != 0, "fork: forkId 0");
        Fork storage fork = forks[msg.sender][forkId];
        uint256 at = _load(data);
        uint32 height = HeaderWalk.height(at);
        bytes32 commit = HeaderWalk.commit(at);
        if (fork.start == 0) {
            require(height <= tipHeight && commit == commits[height], "fork: block commitment");
            fork.start = height + 1;
            fork.commits[height] = commit;
        } else {
            require(height == fork.tip && commit == fork.commits[height], "fork: fork block commitment");
        }
        bytes32 hash = HeaderWalk.blockHash(at);
        uint256 end = data.length;
        for (uint256 i = 160; i < end; i += 48) {
            hash = HeaderWalk.next(at, data, i, hash, easiest);
            commit = HeaderWalk.commit(at);
            fork.commits[++height] = commit;
            emit StoreForkHeader(commit, hash, forkId);
        }
        fork.tip = height;
        if (HeaderWalk.work(at) > tipWork) {
            uint32 start = fork.start;
            require(
                start - 1 <= tipHeight && commits[start - 1] == fork.commits[start - 1], "fork: base left the main chain"
            );
            for (uint256 h = start; h <= height; h++) {
                commits[h] = fork.commits[h];
            }
            fork.start = 0;
            fork.tip = 0;
            _setTip(height, HeaderWalk.work(at));
            emit ChainReorg(commit, hash, forkId, msg.sender, start);
        }
    }

    function getBlockheight() external view returns (uint32 height) {
        return tipHeight;
    }

    function getChainwork() external view returns (uint224 chainWork) {
        return tipWork;
    }

    /// Zero above the tip.
    function getCommitHash(uint256 height) public view returns (bytes32 commitHash) {
        return height <= tipHeight ? commits[height] : bytes32(0);
    }

    function getTipCommitHash() external view returns (bytes32 commitHash) {
        return commits[tipHeight];
    }

    function verifyBlockheader(StoredHeader calldata header) external view returns (uint256 confirmations) {
        bytes32[5] calldata words = header.data;
        return verifyBlockheaderHash(uint32(uint256(words[3]) >> 96), keccak256(abi.encodePacked(words)));
    }

    function verifyBlockheaderHash(uint256 height, bytes32 commitHash) public view returns (uint256 confirmations) {
        require(commitHash != 0 && getCommitHash(height) == commitHash, "verify: block commitment");
        return tipHeight - height + 1;
    }

    function _load(bytes calldata data) private pure returns (uint256) {
        require(data.length >= 160 + 48 && (data.length - 160) % 48 == 0, "submit: data length");
        return HeaderWalk.load(data);
    }

    /// Walks all headers of data and puts them into the main chain.
    function _store(bytes calldata data, uint256 at) private returns (uint32 height, bytes32 commit, bytes32 hash) {
        height = HeaderWalk.height(at);
        hash = HeaderWalk.blockHash(at);
        uint256 end = data.length;
        for (uint256 i = 160; i < end; i += 48) {
            hash = HeaderWalk.next(at, data, i, hash, easiest);
            commit = HeaderWalk.commit(at);
            commits[++height] = commit;
            emit StoreHeader(commit, hash);
        }
    }

    function _setTip(uint32 height, uint256 work) private {
        require(work <= type(uint224).max, "submit: chain work");
        tipHeight = height;
        tipWork = uint224(work);
    }
}
