package wire

import (
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsInstructions(t *testing.T) {
	vectors.Each(t, "chain-solana", "instructions", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Version, Fn, Sender, Signer, Owner, Mint, Token, From, To string
			RequiredATA                                               string
			Swap                                                      json.RawMessage
			Timeout, Amount                                           json.Number
			Secret, DataAccount                                       *string
			Data                                                      string
			Offset, Limit                                             int
			InitATA                                                   bool
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p := programs(in.Version)
		var d *SwapData
		if in.Swap != nil {
			d = swapOf(t, in.Swap)
		}
		units := uint32(0)
		var ixs []Instruction
		answer := map[string]any{}
		switch in.Fn {
		case "init":
			ix, err := p.InitInstruction(d, key(t, in.Sender), number(t, in.Timeout))
			if c.Refuses(t, err) {
				return
			}
			ixs, units = []Instruction{ix}, d.initUnits()
			checkOpened(t, p, d, ix)
		case "claim":
			var secret *[32]byte
			var data *Key
			units = d.claimUnits()
			if in.Secret != nil {
				s := hash32(t, *in.Secret)
				secret = &s
			}
			if in.DataAccount != nil {
				k := key(t, *in.DataAccount)
				data, units = &k, unitsClaimBitcoin
			}
			ix := trial.Must(p.ClaimInstruction(d, key(t, in.Signer), secret, data))(t)
			ixs = []Instruction{ix}
		case "refund":
			var timeout uint64
			if in.Timeout != "" {
				timeout = number(t, in.Timeout)
			}
			ixs, units = []Instruction{p.RefundInstruction(d, timeout)}, d.refundUnits()
		case "initData":
			var limits struct{ DataLength int }
			c.Input(t, &limits)
			space := clientsLayout(in.Version).Space(limits.DataLength)
			signer, account := key(t, in.Signer), key(t, *in.DataAccount)
			ixs, units = []Instruction{CreateAccount(signer, account, p.Swap, Rent(space), uint64(space)), p.InitDataInstruction(signer, account)}, unitsDataCreate
		case "writeData":
			data := vectors.Unhex(t, in.Data)
			end := min(in.Offset+in.Limit, len(data))
			ixs, units = []Instruction{p.WriteDataInstruction(key(t, in.Signer), key(t, *in.DataAccount), uint32(in.Offset), data[in.Offset:end])}, unitsDataWrite
			answer["bytesWritten"] = end - in.Offset
		case "closeData":
			tx := trial.Must(p.CloseDataTx(key(t, in.Signer), key(t, *in.DataAccount), FeeRate{}))(t)
			ixs, units = tx.Instructions[2:], unitsDataClose
		case "deposit":
			ixs, units = []Instruction{p.DepositInstruction(key(t, in.Signer), key(t, in.Token), number(t, in.Amount))}, unitsVault
		case "withdraw":
			c.NotOurs(t, "lp-withdrawal")
		case "initAta":
			signer, owner, mint := key(t, in.Signer), key(t, in.Owner), key(t, in.Mint)
			if in.RequiredATA != "" {
				named := key(t, in.RequiredATA)
				if err := (ToATA{Missing: true, Create: true}).ensure(new(Action), signer, owner, mint, &named); err == nil {
					t.Error("another token account than the owner's is created")
				}
				vectors.SameJSON(t, want, map[string]any{"result": nil})
				return
			}
			ixs, units = []Instruction{CreateATA(signer, owner, mint)}, unitsATA
		case "wrap":
			ixs, units = wrapInstructions(key(t, in.Owner), number(t, in.Amount), in.InitATA, CreateATA)
		case "unwrap":
			ixs, units = []Instruction{Unwrap(key(t, in.Owner))}, unitsUnwrap
		case "solTransfer":
			ixs, units = []Instruction{Transfer(key(t, in.From), key(t, in.To), number(t, in.Amount))}, unitsSendSOL
		case "splTransfer":
			from, mint := key(t, in.From), key(t, in.Mint)
			ixs, units = []Instruction{TransferToken(ATA(from, mint), ATA(key(t, in.To), mint), from, number(t, in.Amount))}, unitsSendToken
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
		answer["computeBudget"], answer["instructions"] = units, allJSON(ixs)
		vectors.SameJSON(t, want, answer)
	})
}

// checkOpened reads an escrow back from the instruction that opens it.
func checkOpened(t *testing.T, p Programs, d *SwapData, ix Instruction) {
	t.Helper()
	got, ok, err := p.OpenedData(ix, nil)
	if err != nil || !ok {
		t.Fatalf("its opening reads as %v, %v", ok, err)
	}
	if got.Terms() != d.Terms() || got.Offerer != d.Offerer || got.Claimer != d.Claimer || got.Token != d.Token || got.SecurityDeposit != d.SecurityDeposit || got.ClaimerBounty != d.ClaimerBounty {
		t.Errorf("read back %+v, want %+v", got, d)
	}
}
