package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// sign signs as an LP does: deterministic, low s, v 27 or 28.
func sign(t testing.TB, privateKey string, digest common.Hash) string {
	t.Helper()
	key := trial.Must(crypto.ToECDSA(unhex(t, privateKey)))(t)
	sig := trial.Must(crypto.Sign(digest[:], key))(t)
	sig[64] += 27
	return hexutil.Encode(sig)
}

func TestVectorsEIP712(t *testing.T) {
	vectors.Each(t, "chain-evm", "eip712", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Kind, Contract, PrivateKey, Data string
			EVMChainID                              uint64
			Swap                                    json.RawMessage
			Now, AuthorizationTimeout               int64
		}
		c.Input(t, &in)
		var want map[string]any
		c.Expected(t, &want)
		n, d := presetOf(t, in.Chain), deploymentOf(t, in.Chain)
		if n.ChainID != in.EVMChainID {
			t.Fatalf("chain id %d, want %d", n.ChainID, in.EVMChainID)
		}
		now, timeout := time.Unix(in.Now, 0), in.Now+in.AuthorizationTimeout
		got := map[string]any{}
		switch in.Kind {
		case "init":
			s := swapOf(t, in.Swap)
			dig := trial.Must(n.InitDigest(d, s, timeout))(t)
			h, _ := initStructHash(s, timeout)
			escrow, _ := s.EscrowHash()
			prefix := prefixInit
			if s.PayIn {
				prefix = prefixInitPayIn
			}
			a := chains.Auth{Prefix: prefix, Timeout: timeout, Signature: sign(t, in.PrivateKey, dig)}
			got["message"] = map[string]any{
				"swapHash": escrow, "offerer": s.Offerer.Hex(), "claimer": s.Claimer.Hex(), "amount": s.Amount.String(),
				"token": s.Token.Hex(), "payIn": s.PayIn, "payOut": s.PayOut, "trackingReputation": s.Reputation,
				"claimHandler": s.ClaimHandler.Hex(), "claimData": s.ClaimData, "refundHandler": s.RefundHandler.Hex(),
				"refundData": s.RefundData, "securityDeposit": s.SecurityDeposit.String(), "claimerBounty": s.ClaimerBounty.String(),
				"depositToken": s.DepositToken.Hex(), "claimActionHash": s.SuccessAction,
				"deadline": strconv.FormatInt(timeout, 10), "extraDataHash": crypto.Keccak256Hash(s.ExtraData),
			}
			got["signature"], got["structHash"], got["digest"] = a, h, dig
			got["encodedType"], got["typeHash"] = initType, typeHash(initType)
			got["domainSeparator"] = domainSeparator(n.ChainID, d.EscrowManager.Address)
			signer, _ := recoverSigner(dig, a.Signature)
			got["signer"] = signer.Hex()
		case "refund":
			s := swapOf(t, in.Swap)
			dig := trial.Must(n.RefundDigest(d, s, timeout))(t)
			h, _ := refundStructHash(s, timeout)
			a := chains.Auth{Prefix: prefixRefund, Timeout: timeout, Signature: sign(t, in.PrivateKey, dig)}
			got["signature"], got["structHash"], got["digest"], got["typeHash"] = a, h, dig, typeHash(refundType)
			signer, _ := recoverSigner(dig, a.Signature)
			got["signer"] = signer.Hex()
			fresh := in.AuthorizationTimeout >= int64(chains.AuthGrace/time.Second)
			if want := fresh && signer == s.Claimer; (n.VerifyRefund(d, s, a, now) == nil) != want {
				t.Errorf("refund authorisation verified: %v, want %v", !want, want)
			}
		case "data":
			data := unhex(t, in.Data)
			dig := n.DataDigest(data)
			signature := sign(t, in.PrivateKey, dig)
			signer, _ := recoverSigner(dig, signature)
			hash := sha256.Sum256(data)
			got["signature"], got["dataHash"], got["digest"] = signature, "0x"+hex.EncodeToString(hash[:]), dig
			got["typeHash"], got["signer"] = typeHash(dataType), signer.Hex()
			other := common.BigToAddress(new(big.Int).Add(signer.Big(), big.NewInt(1)))
			got["valid"] = n.VerifyData(signer, data, signature) == nil
			got["validOther"] = n.VerifyData(other, data, signature) == nil
			// An address is its bytes, however it is written.
			if lower := signer.Hex() == strings.ToLower(signer.Hex()); want["validLowercaseAddress"] != lower {
				t.Errorf("the reference says %v of the address in lower case", want["validLowercaseAddress"])
			}
			c.Differ(t, "evm-address-bytes")
			want["validLowercaseAddress"], got["validLowercaseAddress"] = true, got["valid"]
		default:
			t.Fatalf("unknown kind %s", in.Kind)
		}
		vectors.SameJSON(t, mustJSON(t, want), got)
	})
}

// withoutAction is the hash that the reference signs of an escrow with a success
// action: the escrow's own, and no action beside it.
func withoutAction(t *testing.T, s SwapData, deadline int64) common.Hash {
	t.Helper()
	escrow := trial.Must(s.EscrowHash())(t)
	return crypto.Keccak256Hash(make(words, 0, 19*32).bytes32(typeHash(initType)).bytes32(escrow).
		address(s.Offerer).address(s.Claimer).uint(s.Amount).address(s.Token).bool(s.PayIn).bool(s.PayOut).bool(s.Reputation).
		address(s.ClaimHandler).bytes32(s.ClaimData).address(s.RefundHandler).bytes32(s.RefundData).
		uint(s.SecurityDeposit).uint(s.ClaimerBounty).address(s.DepositToken).bytes32(common.Hash{}).
		uint(big.NewInt(deadline)).bytes32(crypto.Keccak256Hash(s.ExtraData)))
}

// longForm is a signature of 64 bytes, or with a recovery id of 0 or 1, in the
// form of 65 bytes that contracts take.
func longForm(text string) string {
	sig, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	switch {
	case err == nil && len(sig) == 64:
		sig = append(sig, 27+sig[32]>>7)
		sig[32] &= 0x7f
	case err == nil && len(sig) == 65 && sig[64] < 2:
		sig[64] += 27
	default:
		return text
	}
	return "0x" + hex.EncodeToString(sig)
}

func TestVectorsAuthChecks(t *testing.T) {
	vectors.Each(t, "chain-evm", "auth_checks", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Sender      string
			Refund             bool
			Swap               json.RawMessage
			Signature          chains.Auth
			Now, SafeBlockTime int64
		}
		c.Input(t, &in)
		var want struct {
			Error, Valid, Expired bool
			ExpiryMs              *int64
		}
		c.Expected(t, &want)
		n, d, s := presetOf(t, in.Chain), deploymentOf(t, in.Chain), swapOf(t, in.Swap)
		now := time.Unix(in.Now, 0)
		var err error
		if in.Refund {
			err = n.VerifyRefund(d, s, in.Signature, now)
		} else {
			err = n.VerifyInit(d, s, in.Signature, common.HexToAddress(in.Sender), now, in.SafeBlockTime)
			// The reference's millisecond clock stands a little after now.
			if got := settle.AuthUsableUntil(in.Signature, now.Add(time.Millisecond)); want.ExpiryMs != nil && got != *want.ExpiryMs {
				t.Errorf("usable until %d, want %d", got, *want.ExpiryMs)
			}
			if got := settle.AuthOver(in.Signature, in.SafeBlockTime); got != want.Expired {
				t.Errorf("over: got %v, want %v", got, want.Expired)
			}
		}
		valid := want.Valid && !want.Error
		// The reference reads any form of a signature, looks at no success action, and
		// compares addresses as text.
		plain := in.Signature
		plain.Signature = longForm(plain.Signature)
		theirs := n.VerifyInit(d, s, plain, common.HexToAddress(in.Sender), now, in.SafeBlockTime)
		switch {
		case in.Refund:
			theirs = n.VerifyRefund(d, s, plain, now)
		case s.SuccessAction != common.Hash{}:
			signer := s.Offerer
			if common.HexToAddress(in.Sender) == s.Offerer {
				signer = s.Claimer
			}
			dig := digest(domainSeparator(n.ChainID, d.EscrowManager.Address), withoutAction(t, s, plain.Timeout))
			theirs = checkSigner(dig, nil, plain.Signature, signer)
		}
		if (theirs == nil && canonical(t, in.Swap)) != valid {
			t.Errorf("the reference says %+v, by its rules %v", want, theirs)
		}
		sig, _ := hex.DecodeString(strings.TrimPrefix(in.Signature.Signature, "0x")) // nil if it is no hex
		switch {
		case valid && !in.Refund && s.SuccessAction != common.Hash{}:
			c.Differ(t, "evm-success-action")
			valid = false
		case valid && (len(sig) != 65 || sig[64] < 27):
			c.Differ(t, "evm-signature-form")
			valid = false
		case !valid && !canonical(t, in.Swap) && err == nil:
			c.Differ(t, "evm-address-bytes")
			valid = true
		}
		if valid != (err == nil) {
			t.Errorf("got %v, want valid: %v", err, valid)
		}
		var e *chains.AuthError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%v is no *chains.AuthError", err)
		}
	})
}
