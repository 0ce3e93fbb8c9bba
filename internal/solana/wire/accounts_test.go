package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsAccounts(t *testing.T) {
	vectors.Each(t, "chain-solana", "accounts", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, Account, User, Mint string
			Data                             *string
			Token, Owner                     string
			Lamports                         uint64
			ATAAmount                        *json.Number
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p := programs(in.Version)
		var data []byte
		if in.Data != nil {
			data = vectors.Unhex(t, *in.Data)
		}
		switch in.Fn {
		case "walletBalance":
			var ata *uint64
			if in.ATAAmount != nil {
				n := number(t, *in.ATAAmount)
				ata = &n
			}
			balance := "0"
			if key(t, in.Token) == WSOL {
				balance = SpendableSOL(in.Lamports, ata).String()
			} else if ata != nil {
				account := TokenAccount{Mint: key(t, in.Token), Owner: key(t, in.Owner), Amount: *ata}
				read, err := DecodeTokenAccount(TokenProgram, account.Bytes())
				if err != nil || read != account {
					t.Fatal(read, err)
				}
				balance = strconv.FormatUint(read.Amount, 10)
			}
			vectors.SameJSON(t, want, map[string]string{"balance": balance})
		case "userAccount":
			v, err := DecodeUserVault(data)
			if errors.Is(err, ErrAbsent) {
				vectors.SameJSON(t, want, map[string]any{"data": nil, "balance": "0"})
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			same(t, "written again", hex.EncodeToString(data), hex.EncodeToString(v.Bytes()))
			u := func(n uint64) string { return strconv.FormatUint(n, 10) }
			var kinds []any
			for _, k := range v.Reputation {
				kinds = append(kinds, map[string]string{"successVolume": u(k.SuccessVolume), "successCount": u(k.SuccessCount), "failVolume": u(k.FailVolume), "failCount": u(k.FailCount),
					"coopCloseVolume": u(k.CoopCloseVolume), "coopCloseCount": u(k.CoopCloseCount)})
			}
			vectors.SameJSON(t, want, map[string]any{"balance": u(v.Amount), "inContractBalance": u(v.Amount), "reputationByKind": kinds})
		case "escrow":
			s, err := p.DecodeEscrow(data)
			if errors.Is(err, ErrAbsent) {
				var absent struct {
					SwapData   json.RawMessage
					IsCommited *bool
				}
				c.Expected(t, &absent)
				if string(absent.SwapData) != "null" || absent.IsCommited != nil && *absent.IsCommited {
					t.Errorf("absent; the reference read %s", want)
				}
				return
			}
			if c.Refuses(t, err) {
				return
			}
			same(t, "written again", hex.EncodeToString(data), hex.EncodeToString(p.EncodeEscrow(s)))
			if in.Account != "" {
				same(t, "address", in.Account, p.Escrow(s.Data.Hash).String())
			}
			vectors.SameJSON(t, want, map[string]any{"swapData": p.SwapData(s), "isCommitedAfterChanging": matches(p, s)})
		}
	})
}

// matches tries which changes of its description an escrow's account still matches.
func matches(p Programs, s EscrowState) map[string]bool {
	other := Key{1, 2, 3}
	is := map[string]bool{}
	for name, change := range map[string]func(d *SwapData){
		"same": func(*SwapData) {}, "amount": func(d *SwapData) { d.Amount++ }, "expiry": func(d *SwapData) { d.Expiry++ }, "sequence": func(d *SwapData) { d.Sequence++ },
		"offerer": func(d *SwapData) { d.Offerer = other }, "claimer": func(d *SwapData) { d.Claimer = other }, "token": func(d *SwapData) { d.Token = other },
		"offererAta": func(d *SwapData) { d.OffererATA = &other }, "claimerAta": func(d *SwapData) { d.ClaimerATA = &other },
		"no atas": func(d *SwapData) { d.OffererATA, d.ClaimerATA = nil, nil },
		"bounty":  func(d *SwapData) { d.ClaimerBounty++ }, "deposit": func(d *SwapData) { d.SecurityDeposit++ },
		"payIn": func(d *SwapData) { d.PayIn = !d.PayIn }, "payOut": func(d *SwapData) { d.PayOut = !d.PayOut },
		"kind": func(d *SwapData) { d.Kind = (d.Kind + 1) % 4 }, "confirmations": func(d *SwapData) { d.Confirmations++ }, "nonce": func(d *SwapData) { d.Nonce++ },
		"offererInitializer flipped": func(d *SwapData) { flipped := !s.OffererInitializer; d.OffererInitializer = &flipped },
		"offererInitializer unset":   func(d *SwapData) { d.OffererInitializer = nil },
	} {
		d := p.SwapData(s)
		change(d)
		err := p.Match(s, d)
		is[name] = err == nil
		if err != nil && !errors.Is(err, errOtherEscrow) {
			panic(err)
		}
	}
	return is
}

// Lamports that somebody sends to the address of a token account before it is created
// must not keep anybody from claiming (§21.7).
func TestTokenAccountOfTheSystem(t *testing.T) {
	good := TokenAccount{Mint: WSOL, Owner: Key{7}, Amount: 5}.Bytes()
	for name, c := range map[string]struct {
		program Key
		data    []byte
		absent  bool
		good    bool
	}{
		"absent":               {Key{}, nil, true, false},
		"lamports sent to it":  {SystemProgram, nil, true, false},
		"good":                 {TokenProgram, good, false, true},
		"of another program":   {Key{9}, good, false, false},
		"too short":            {TokenProgram, good[:164], false, false},
		"system, but has data": {SystemProgram, good, false, false},
	} {
		got, err := DecodeTokenAccount(c.program, c.data)
		if errors.Is(err, ErrAbsent) != c.absent || (err == nil) != c.good || c.good && got.Amount != 5 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestDecodedAccountsAreNeverHalf(t *testing.T) {
	for _, p := range []Programs{firstV1, firstV2} {
		s := EscrowState{Data: Terms{Kind: chains.OnchainNonced, PayIn: true, Amount: 9}, Offerer: Key{3}, OffererInitializer: p.Version == V2}
		full := p.EncodeEscrow(s)
		last := len(full) - 1 // the spare byte
		for n := 1; n < last; n++ {
			if got, err := p.DecodeEscrow(full[:n]); err == nil || got != (EscrowState{}) {
				t.Fatalf("%s: %d of %d bytes were read: %v", p.Version, n, len(full), err)
			}
		}
		if got, err := p.DecodeEscrow(full[:last]); err != nil || got != s {
			t.Errorf("%s: %v, %v", p.Version, got, err)
		}
		bad := append([]byte(nil), full...)
		bad[51] = 2 // payIn
		if _, err := p.DecodeEscrow(bad); err == nil {
			t.Errorf("%s: a flag of 2 was read", p.Version)
		}
	}
}

// A mismatch says which member it is.
func TestMatchNamesTheMember(t *testing.T) {
	s := EscrowState{Data: Terms{Kind: chains.HTLC, PayIn: true, Amount: 9, Expiry: 2_000_000_000}, Offerer: Key{3}}
	for member, change := range map[string]func(d *SwapData){
		"kind": func(d *SwapData) { d.Kind++ }, "confirmations": func(d *SwapData) { d.Confirmations++ }, "nonce": func(d *SwapData) { d.Nonce++ },
		"paymentHash": func(d *SwapData) { d.PaymentHash[0]++ }, "payIn": func(d *SwapData) { d.PayIn = false }, "payOut": func(d *SwapData) { d.PayOut = true },
		"amount": func(d *SwapData) { d.Amount++ }, "expiry": func(d *SwapData) { d.Expiry++ }, "sequence": func(d *SwapData) { d.Sequence++ },
		"offerer": func(d *SwapData) { d.Offerer = Key{} }, "claimer": func(d *SwapData) { d.Claimer = Key{8} }, "token": func(d *SwapData) { d.Token = WSOL },
		"claimerBounty": func(d *SwapData) { d.ClaimerBounty++ }, "securityDeposit": func(d *SwapData) { d.SecurityDeposit++ },
	} {
		d := firstV1.SwapData(s)
		change(d)
		if err := firstV1.Match(s, d); !errors.Is(err, errOtherEscrow) || !strings.Contains(err.Error(), member) {
			t.Errorf("%s: %v", member, err)
		}
	}
}
