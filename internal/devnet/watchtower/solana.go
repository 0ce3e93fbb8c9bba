package watchtower

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/claimhash"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/devnet/solana/party"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// solana is what the watchtower knows of Solana.
type solana struct {
	*party.Party
	secrets map[[32]byte]*secret // that a good message told of, by escrow hash; under the tower's mutex

	// Used by the working goroutine alone.
	head    wire.Hash // up to which the program's history has been read
	waiting map[[32]byte]*wire.SwapData
	blocks  map[bitcoin.Hash]map[[32]byte]payment // what each Bitcoin block pays, by the hash of the output
}

// secret is an escrow with what opens it.
type secret struct {
	data     *wire.SwapData
	preimage [32]byte
}

// payment is an output of a Bitcoin transaction.
type payment struct {
	id     bitcoin.Hash
	vout   uint32
	height uint32
}

// claimTime bounds a claim, which may take several transactions.
const claimTime = 10 * time.Second

// searched is how many Bitcoin blocks are searched for a payment. Escrows live for
// hours, but a test mines days of blocks in no time.
const searched = 500

func newSolana(p *party.Party) *solana {
	return &solana{Party: p, secrets: map[[32]byte]*secret{}, waiting: map[[32]byte]*wire.SwapData{}, blocks: map[bitcoin.Hash]map[[32]byte]payment{}}
}

// parse accepts hash locks of the watchtower's program.
func (s *solana) parse(data json.RawMessage) (*wire.SwapData, error) {
	d, err := wire.ParseSwapData(data)
	if err != nil {
		return nil, err
	}
	if d.Kind != chains.HTLC {
		return nil, errors.New("not a hash lock")
	}
	return d, s.Programs.Check(d)
}

// takeSolana remembers what a message says if its preimage opens the escrow, and
// reports whether it is about Solana.
func (t *Tower) takeSolana(data json.RawMessage, preimage [32]byte) bool {
	d, err := t.solana.parse(data)
	if err != nil {
		return false
	}
	if sha256.Sum256(preimage[:]) == d.PaymentHash {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.behaviour.Deaf && len(t.solana.secrets) < maxEscrows {
			t.solana.secrets[d.EscrowHash()] = &secret{d, preimage}
		}
	}
	return true
}

// due reports whether it is time to claim what can be claimed.
func (t *Tower) isDue(what any, delay time.Duration) bool {
	since, ok := t.due[what]
	if !ok {
		since = time.Now()
		t.due[what] = since
	}
	return time.Since(since) >= delay
}

// claimSecrets claims the hash locks that are open, and forgets what is over.
func (t *Tower) claimSecrets(ctx context.Context, b Behaviour) (failed error) {
	s := t.solana
	t.mu.Lock()
	var known []*secret
	var data []*wire.SwapData
	for _, e := range s.secrets {
		known, data = append(known, e), append(data, e.data)
	}
	t.mu.Unlock()
	if len(known) == 0 {
		return nil
	}
	claimed := 0
	for i, f := range party.Facts(s.Net.Bank(), s.Programs, data) {
		hash := data[i].EscrowHash()
		switch {
		case f.Err != nil:
		case f.State == chains.EscrowOpen:
			if claimed < perRound && t.isDue(hash, b.Delay) {
				claimed++
				failed = errors.Join(failed, t.claimOn(ctx, hash, func(ctx context.Context) (wire.Signature, error) {
					return s.ClaimSecret(ctx, data[i], known[i].preimage)
				}))
			}
		case f.State == chains.EscrowNone && uint64(f.Head.Time) <= data[i].Expiry: // it may still be opened
		default:
			t.forget(hash)
			t.mu.Lock()
			if s.secrets[hash] == known[i] { // no message came since
				delete(s.secrets, hash)
			}
			t.mu.Unlock()
		}
	}
	return failed
}

// claimOn sends a claim on Solana and waits for it.
func (t *Tower) claimOn(ctx context.Context, escrow [32]byte, claim func(context.Context) (wire.Signature, error)) error {
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	id, err := claim(ctx)
	if err != nil {
		return fmt.Errorf("claim on Solana: %w", err)
	}
	t.done(Claim{Escrow: escrow, Tx: id.String()})
	return nil
}

// claimPayments claims the escrows whose Bitcoin payment is deep enough and that pay
// for it.
func (t *Tower) claimPayments(ctx context.Context, b Behaviour) (failed error) {
	s := t.solana
	s.find()
	if len(s.waiting) == 0 {
		return nil
	}
	var data []*wire.SwapData
	for _, d := range s.waiting {
		data = append(data, d)
	}
	tip, _ := s.Net.Bitcoin().Tip()
	for i, f := range party.Facts(s.Net.Bank(), s.Programs, data) {
		d := data[i]
		hash := d.EscrowHash()
		switch {
		case f.Err != nil, f.State == chains.EscrowNone: // opened in a block that is not confirmed, or not any more
		case f.State == chains.EscrowOpen:
			paid, ok := s.payment(*d.TxoHash)
			if !ok || tip+1 < paid.height+uint32(d.Confirmations) || !t.isDue(hash, b.Delay) {
				continue
			}
			failed = errors.Join(failed, t.claimOn(ctx, hash, func(ctx context.Context) (wire.Signature, error) {
				return s.ClaimBitcoin(ctx, d, paid.id, paid.vout)
			}))
		}
	}
	return failed
}

// find reads the program's history for escrows that wait for a Bitcoin payment and
// offer something to whoever proves it, and forgets those that are over.
func (s *solana) find() {
	s.Net.Bank().Read(bank.Confirmed, 0, func(v *bank.View) {
		if v.Head().Hash == s.head {
			return
		}
		s.head = v.Head().Hash
		clear(s.waiting) // what was opened may have been undone
		over := map[[32]byte]bool{}
		for tx := range v.History(s.Programs.Swap) {
			if tx.Err != nil {
				continue
			}
			events, _ := s.Programs.Events(tx.Logs)
			for i := len(events) - 1; i >= 0; i-- {
				e := events[i]
				hash := e.EscrowHash()
				if e.Kind != wire.Initialized {
					over[hash] = true
				} else if d, ok := s.opened(tx, e); ok && !over[hash] && s.waiting[hash] == nil {
					s.waiting[hash] = d
				}
			}
		}
	})
}

// opened returns the escrow that an event tells of, if it is worth watching.
func (s *solana) opened(tx *bank.Executed, e wire.Event) (*wire.SwapData, bool) {
	if e.Escrow != chains.Onchain || e.TxoHash == [32]byte{} {
		return nil, false
	}
	_, instructions, err := wire.Decompile(&tx.Message)
	if err != nil {
		return nil, false
	}
	for _, ix := range instructions {
		d, ok, err := s.Programs.OpenedData(ix, &e)
		if err == nil && ok && d.EscrowHash() == e.EscrowHash() {
			return d, d.ClaimerBounty > 0 && d.TxoHash != nil
		}
	}
	return nil, false
}

// payment finds an output in the newest Bitcoin blocks.
func (s *solana) payment(output [32]byte) (p payment, ok bool) {
	tip, _ := s.Net.Bitcoin().Tip()
	for height := tip; height > 0 && height+searched > tip; height-- {
		header, err := s.Net.Bitcoin().Header(height)
		if err != nil {
			return p, false
		}
		if p, ok = s.block(header.Hash())[output]; ok {
			return p, true
		}
	}
	return p, false
}

// block is what a Bitcoin block pays.
func (s *solana) block(hash bitcoin.Hash) map[[32]byte]payment {
	if known, ok := s.blocks[hash]; ok {
		return known
	}
	block, height, ok := s.Net.Bitcoin().Block(hash)
	if !ok {
		return nil
	}
	pays := map[[32]byte]payment{}
	for _, tx := range block.Transactions {
		for vout, out := range tx.TxOut {
			pays[claimhash.TxoHash(out.Value, out.PkScript)] = payment{tx.TxHash(), uint32(vout), height}
		}
	}
	s.blocks[hash] = pays
	return pays
}
