// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

/// What the contracts of the set ask of each other and of tokens.

struct StoredHeader {
    bytes32[5] data; // 160 bytes, see BtcRelay
}

interface IBtcRelay {
    /// Confirmations of a header of the main chain; reverts for any other.
    function verifyBlockheader(StoredHeader calldata header) external view returns (uint256 confirmations);
}

interface IClaimHandler {
    /// Reverts unless the witness fulfils the claim data.
    function claim(bytes32 claimData, bytes calldata witness) external view returns (bytes memory witnessResult);
}

interface IRefundHandler {
    /// Reverts unless the refund data allows a refund now.
    function refund(bytes32 refundData, bytes calldata witness) external view returns (bytes memory witnessResult);
}

interface IERC20 {
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function approve(address spender, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IWrappedNative is IERC20 {
    function deposit() external payable;
}

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}
