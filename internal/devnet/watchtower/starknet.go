package watchtower

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/devnet/starknet/party"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// starknet is what the watchtower knows of Starknet.
type starknet struct {
	*party.Party
	secrets map[wire.Felt]*starknetSecret // that a good message told of, by escrow hash; under the tower's mutex

	seen [2]string // heads of both chains at which there was nothing left to do; of the working goroutine
}

// starknetSecret is an escrow with what opens it.
type starknetSecret struct {
	data     wire.SwapData
	preimage [32]byte
}

// parse accepts hash locks of the network's contracts.
func (s *starknet) parse(data json.RawMessage) (wire.SwapData, error) {
	d, err := wire.ParseSwapData(data)
	if err != nil {
		return d, err
	}
	if d.Kind != chains.HTLC {
		return d, errors.New("not a hash lock")
	}
	return d, s.Deployment().CheckSwapData(d)
}

// takeStarknet remembers what a message says if its preimage opens the escrow, and
// reports whether it is about Starknet.
func (t *Tower) takeStarknet(data json.RawMessage, preimage [32]byte) bool {
	d, err := t.starknet.parse(data)
	if err != nil {
		return false
	}
	hash, err := d.EscrowHash()
	if err == nil && wire.ClaimDataHTLC(sha256.Sum256(preimage[:])) == d.ClaimData {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.behaviour.Deaf && len(t.starknet.secrets) < maxEscrows {
			t.starknet.secrets[hash] = &starknetSecret{d, preimage}
		}
	}
	return true
}

// claimStarknetSecrets claims the hash locks that are open, and forgets what is over.
func (t *Tower) claimStarknetSecrets(ctx context.Context, b Behaviour) (failed error) {
	s := t.starknet
	t.mu.Lock()
	var known []*starknetSecret
	var hashes []wire.Felt
	for hash, e := range s.secrets {
		hashes, known = append(hashes, hash), append(known, e)
	}
	t.mu.Unlock()
	if len(hashes) == 0 {
		return nil
	}
	facts, err := s.Facts(hashes...)
	if err != nil {
		return err
	}
	claimed := 0
	for i, f := range facts {
		hash := hashes[i]
		switch {
		case f.State == chains.EscrowOpen:
			if claimed < perRound && t.isDue(hash, b.Delay) {
				claimed++
				failed = errors.Join(failed, t.claimOnStarknet(ctx, Claim{Escrow: hash.Bytes()}, func(ctx context.Context) (wire.Felt, error) {
					return s.ClaimSecret(ctx, known[i].data, known[i].preimage)
				}))
			}
		case f.State == chains.EscrowNone && f.Head.Time <= known[i].data.Expiry(): // it may still be opened
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

// claimOnStarknet sends a claim and waits for it.
func (t *Tower) claimOnStarknet(ctx context.Context, c Claim, claim func(context.Context) (wire.Felt, error)) error {
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	id, err := claim(ctx)
	if err != nil {
		return fmt.Errorf("claim on Starknet: %w", err)
	}
	c.Tx = wire.Hex(id)
	t.done(c)
	return nil
}

// claimStarknetVaults claims the next withdrawal of every vault that can be claimed.
// Which vaults there are, and how they stand, the chain says each time: a
// reorganisation may take an opening back.
func (t *Tower) claimStarknetVaults(ctx context.Context, b Behaviour) (failed error) {
	s := t.starknet
	_, tip := s.Net.Bitcoin().Tip()
	heads := [2]string{s.Net.Head().Hash, tip.String()}
	if heads == s.seen {
		return nil
	}
	d := s.Deployment()
	for _, l := range s.Net.Logs(d.VaultManager.Address, 0) {
		e, err := d.DecodeLog(l.Log)
		if err != nil {
			return err
		}
		if opened, ok := e.(wire.VaultOpenEvent); ok {
			failed = errors.Join(failed, t.claimNextOnStarknet(ctx, opened.VaultRef, b))
		}
	}
	if failed == nil && b.Delay == 0 {
		s.seen = heads
	}
	return failed
}

// claimNextOnStarknet claims the withdrawal that spends the vault's output, if Bitcoin
// has confirmed it often enough.
func (t *Tower) claimNextOnStarknet(ctx context.Context, ref wire.VaultRef, b Behaviour) error {
	s := t.starknet
	v, err := s.Vault(ref)
	if err != nil || !v.Open() {
		return err
	}
	spend, err := single.Outspend(ctx, t.bitcoin, v.UTXO)
	if err != nil || spend.State != bitcoin.SpentConfirmed {
		return err
	}
	tx, proof, err := s.Net.Bitcoin().Proof(spend.TxID)
	if err != nil {
		return err
	}
	tip, _ := s.Net.Bitcoin().Tip()
	if uint64(proof.Height)+uint64(v.Confirmations) > uint64(tip)+1 {
		return nil
	}
	w, err := wire.ParseWithdrawal(tx)
	if err != nil {
		return nil // claiming it would close the vault: no claimer earns by that
	}
	if !t.isDue(w.TxID, b.Delay) {
		return nil
	}
	return t.claimOnStarknet(ctx, Claim{Withdrawal: w.TxID}, func(ctx context.Context) (wire.Felt, error) {
		return s.ClaimVault(ctx, ref, w)
	})
}
