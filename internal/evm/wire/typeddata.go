package wire

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// The EIP-712 types that the network signs (protocol: chain-evm.md §5).
const (
	domainType = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
	initType   = "Initialize(bytes32 swapHash,address offerer,address claimer,uint256 amount,address token," +
		"bool payIn,bool payOut,bool trackingReputation,address claimHandler,bytes32 claimData," +
		"address refundHandler,bytes32 refundData,uint256 securityDeposit,uint256 claimerBounty," +
		"address depositToken,bytes32 claimActionHash,uint256 deadline,bytes32 extraDataHash)"
	refundType = "Refund(bytes32 swapHash,uint256 timeout)"
	dataType   = "DataHash(bytes32 dataHash)"
)

func typeHash(name string) common.Hash { return crypto.Keccak256Hash([]byte(name)) }

// domainSeparator binds a signature to a chain and a contract.
func domainSeparator(chainID uint64, contract common.Address) common.Hash {
	return crypto.Keccak256Hash(make(words, 0, 5*32).bytes32(typeHash(domainType)).
		bytes32(typeHash("atomiq.exchange")).bytes32(typeHash("1")).uint64(chainID).address(contract))
}

func digest(domain, structHash common.Hash) common.Hash {
	return crypto.Keccak256Hash([]byte("\x19\x01"), domain[:], structHash[:])
}

func initStructHash(s SwapData, deadline int64) (common.Hash, error) {
	escrow, err := s.EscrowHash()
	if err != nil {
		return common.Hash{}, err
	}
	if deadline < 0 {
		return common.Hash{}, fmt.Errorf("the deadline must not be negative")
	}
	// claimActionHash is what the contract will hash: the escrow's own commitment, not zero.
	return crypto.Keccak256Hash(make(words, 0, 19*32).bytes32(typeHash(initType)).bytes32(escrow).
		address(s.Offerer).address(s.Claimer).uint(s.Amount).address(s.Token).
		bool(s.PayIn).bool(s.PayOut).bool(s.Reputation).
		address(s.ClaimHandler).bytes32(s.ClaimData).address(s.RefundHandler).bytes32(s.RefundData).
		uint(s.SecurityDeposit).uint(s.ClaimerBounty).address(s.DepositToken).bytes32(s.SuccessAction).
		uint(big.NewInt(deadline)).bytes32(crypto.Keccak256Hash(s.ExtraData))), nil
}

func refundStructHash(s SwapData, timeout int64) (common.Hash, error) {
	escrow, err := s.EscrowHash()
	if err != nil {
		return common.Hash{}, err
	}
	if timeout < 0 {
		return common.Hash{}, fmt.Errorf("the timeout must not be negative")
	}
	return crypto.Keccak256Hash(make(words, 0, 3*32).bytes32(typeHash(refundType)).bytes32(escrow).uint(big.NewInt(timeout))), nil
}

func dataStructHash(data []byte) common.Hash {
	return crypto.Keccak256Hash(make(words, 0, 2*32).bytes32(typeHash(dataType)).bytes32(sha256.Sum256(data)))
}

// InitDigest is what is signed to let the other party open an escrow until a
// deadline (Unix seconds).
func (n Network) InitDigest(d Deployment, s SwapData, deadline int64) (common.Hash, error) {
	h, err := initStructHash(s, deadline)
	return digest(domainSeparator(n.ChainID, d.EscrowManager.Address), h), err
}

// RefundDigest is what a claimer signs to let the offerer take the amount back
// before the expiry, until a timeout (Unix seconds).
func (n Network) RefundDigest(d Deployment, s SwapData, timeout int64) (common.Hash, error) {
	h, err := refundStructHash(s, timeout)
	return digest(domainSeparator(n.ChainID, d.EscrowManager.Address), h), err
}

// DataDigest is what an LP signs to prove that it holds an address. It is bound
// to the chain but to no contract (protocol: lp-protocol.md §2.3).
func (n Network) DataDigest(data []byte) common.Hash {
	return digest(domainSeparator(n.ChainID, common.Address{}), dataStructHash(data))
}

// recoverSigner returns who signed a digest. Only what the contracts accept is
// accepted: 65 bytes r, s, v in 0x hex, s in the lower half, v 27 or 28
// (protocol: chain-evm.md §13.7).
func recoverSigner(digest common.Hash, signature string) (common.Address, error) {
	sig, err := hexBytes(signature, crypto.SignatureLength)
	if err != nil {
		return common.Address{}, fmt.Errorf("signature %w", err)
	}
	if sig[64] != 27 && sig[64] != 28 {
		return common.Address{}, fmt.Errorf("signature has recovery value %d, must be 27 or 28", sig[64])
	}
	sig[64] -= 27
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:64])
	if !crypto.ValidateSignatureValues(sig[64], r, s, true) {
		return common.Address{}, fmt.Errorf("signature is out of range or not in canonical form")
	}
	key, err := crypto.SigToPub(digest[:], sig)
	if err != nil {
		return common.Address{}, fmt.Errorf("signature: %w", err)
	}
	return crypto.PubkeyToAddress(*key), nil
}
