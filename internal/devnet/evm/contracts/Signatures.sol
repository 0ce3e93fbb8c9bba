// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Interfaces.sol";
import "./Escrow.sol";

/// EIP-712 authorisations and who signed them.
abstract contract Signatures {
    using Escrows for Escrow;

    event EIP712DomainChanged(); // part of the ERC-5267 interface; never happens here

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant INIT_TYPE = keccak256(
        "Initialize(bytes32 swapHash,address offerer,address claimer,uint256 amount,address token,bool payIn,bool payOut,bool trackingReputation,address claimHandler,bytes32 claimData,address refundHandler,bytes32 refundData,uint256 securityDeposit,uint256 claimerBounty,address depositToken,bytes32 claimActionHash,uint256 deadline,bytes32 extraDataHash)"
    );
    bytes32 private constant REFUND_TYPE = keccak256("Refund(bytes32 swapHash,uint256 timeout)");
    bytes32 private constant NAME = keccak256("atomiq.exchange");
    bytes32 private constant VERSION = keccak256("1");
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (0x0f, "atomiq.exchange", "1", block.chainid, address(this), 0, new uint256[](0));
    }

    function _initDigest(Escrow calldata e, bytes32 escrowHash, uint256 timeout, bytes calldata extraData)
        internal
        view
        returns (bytes32)
    {
        bytes memory head = abi.encode(
            INIT_TYPE, escrowHash, e.offerer, e.claimer, e.amount, e.token, e.payIn(), e.payOut(), e.reputation()
        );
        bytes memory tail = abi.encode(
            e.claimHandler,
            e.claimData,
            e.refundHandler,
            e.refundData,
            e.securityDeposit,
            e.claimerBounty,
            e.depositToken,
            e.successActionCommitment,
            timeout,
            keccak256(extraData)
        );
        return _digest(keccak256(bytes.concat(head, tail)));
    }

    function _refundDigest(bytes32 escrowHash, uint256 timeout) internal view returns (bytes32) {
        return _digest(keccak256(abi.encode(REFUND_TYPE, escrowHash, timeout)));
    }

    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPE, NAME, VERSION, block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    /// 65 bytes r, s, v with s in the lower half and v 27 or 28, or whatever a contract wallet accepts.
    function _signedBy(address signer, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        if (signature.length == 65) {
            bytes32 s = bytes32(signature[32:64]);
            uint8 v = uint8(signature[64]);
            if (uint256(s) <= HALF_ORDER && (v == 27 || v == 28)) {
                address by = ecrecover(digest, v, bytes32(signature[:32]), s);
                if (by != address(0) && by == signer) return true;
            }
        }
        if (signer.code.length == 0) return false;
        (bool ok, bytes memory answer) =
            signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return ok && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
    }
}
