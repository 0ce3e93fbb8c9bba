package bank

import (
	"encoding/binary"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Rules are what a relay's Bitcoin network demands of headers. The zero value is that of
// the relays for Bitcoin's test networks: each header says its own target.
type Rules struct {
	Retarget bool // targets follow from the times of headers, as on mainnet

	// LongerWins lets the longer of two chains with the same work win, which the
	// deployed relays do not. Work is counted in units of mainnet's easiest block, in
	// which a regtest chain has none at all: without this rule no reorganisation of a
	// local Bitcoin network could reach the relay.
	LongerWins bool
}

// Relay returns the Bitcoin relay of a deployment.
func Relay(p wire.Programs, r Rules) Program {
	return callProgram(p, wire.DataPlain, map[string]handler{
		"initialize":                initializeRelay,
		"submit_block_headers":      r.submit,
		"submit_short_fork_headers": r.submitShortFork,
		"submit_fork_headers":       r.submitFork,
		"close_fork_account":        closeFork,
		"verify_transaction":        verifyTransaction,
		"block_height":              compareHeight,
	})
}

// initializeRelay starts a relay at a header that it believes.
func initializeRelay(x *call) error {
	first, err := wire.DecodeRelayInitArgs(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer, state := x.signer("signer"), x.account("mainState")
	x.runs("systemProgram", wire.SystemProgram)
	x.create(state, signer, wire.RelayStateSpace, x.Program, []byte("state"))
	x.writable(signer)
	x.is(x.account("headerTopic"), x.p.RelayHeader(first.Header.Hash()))
	if x.err != nil {
		return x.err
	}
	s := &wire.RelayState{StartHeight: first.Header.Height, Height: first.Header.Height, Work: new(big.Int)}
	s.SetCommitment(first.Header.Height, first.Commitment())
	become(s, first)
	state.Data = s.Bytes()
	x.stored(wire.RelayEvent{}, first)
	return nil
}

// become makes a header the tip of the main chain.
func become(s *wire.RelayState, tip wire.StoredHeader) {
	s.LastDiffAdjustment, s.Height, s.Work = tip.LastDiffAdjustment, tip.Header.Height, tip.Work
	s.TipCommitment, s.TipHash = tip.Commitment(), tip.Header.Hash()
}

// stored emits that a header was stored, on the main chain or the fork that e names.
func (x *call) stored(e wire.RelayEvent, h wire.StoredHeader) {
	e.Block, e.Commitment, e.Stored = h.Header.Hash(), h.Commitment(), &h
	x.Emit(e.Bytes())
}

// mainState reads the relay's main chain. Its address is looked at by whoever has read
// all accounts.
func (x *call) mainState() (s *wire.RelayState, a *Info) {
	a = x.account("mainState")
	x.require(a.Owner == x.Program, ownedByWrongProgram)
	if x.typed(a, "MainState"); x.err == nil {
		var err error
		s, err = wire.DecodeRelayState(a.Data)
		x.require(err == nil, accountNotReadable)
	}
	return s, a
}

// beats reports whether a chain with a tip is better than the main chain.
func (r Rules) beats(tip wire.StoredHeader, s *wire.RelayState) bool {
	if c := tip.Work.Cmp(s.Work); c != 0 || !r.LongerWins {
		return c > 0
	}
	return tip.Header.Height > s.Height
}

// submission is what is brought to a relay.
type submission struct {
	wire.SubmitArgs
	signer *Info
	state  *wire.RelayState
	at     *Info // of the state
}

// submission reads headers for the main chain.
func (x *call) submission() (s submission) {
	var err error
	if s.SubmitArgs, err = wire.DecodeSubmitArgs(x.args, false); err != nil {
		x.fail(argumentsNotReadable)
		return s
	}
	s.signer = x.signer("signer")
	s.state, s.at = x.mainState()
	x.writable(s.signer)
	x.is(s.at, x.p.RelayState())
	x.writable(s.at)
	x.counted(s.SubmitArgs)
	return s
}

// counted demands that there are headers, and a topic for each.
func (x *call) counted(a wire.SubmitArgs) {
	x.require(len(a.Headers) > 0, noHeaders)
	x.require(len(a.Headers) == len(x.rest), wrongRemainingAccounts)
}

// walk checks headers one after the other and keeps each.
func (x *call) walk(r Rules, a wire.SubmitArgs, keep func(wire.StoredHeader) error) (top wire.StoredHeader, err error) {
	top = a.On
	for i, h := range a.Headers {
		if err := x.Consume(headerUnits); err != nil {
			return top, err
		}
		if top, err = r.next(top, h, x.rest[i].Key == x.p.RelayHeader(h.Hash()), x.unixTime()); err != nil {
			return top, err
		}
		if err := keep(top); err != nil {
			return top, err
		}
	}
	return top, nil
}

// submit puts headers on the tip of the main chain.
func (r Rules) submit(x *call) error {
	s := x.submission()
	if x.err == nil {
		x.require(known(s.state, s.On, s.state.Height), prevBlockCommitment)
	}
	if x.err != nil {
		return x.err
	}
	top, err := x.walk(r, s.SubmitArgs, func(h wire.StoredHeader) error {
		s.state.SetCommitment(h.Header.Height, h.Commitment())
		x.stored(wire.RelayEvent{}, h)
		return nil
	})
	if err != nil {
		return err
	}
	become(s.state, top)
	s.at.Data = s.state.Bytes()
	return nil
}

// submitShortFork puts headers on one below the tip; they must win at once.
func (r Rules) submitShortFork(x *call) error {
	s := x.submission()
	if x.err == nil {
		x.require(known(s.state, s.On, s.On.Header.Height), prevBlockCommitment)
	}
	if x.err != nil {
		return x.err
	}
	fork := s.state.ForkCounter
	top, err := x.walk(r, s.SubmitArgs, func(h wire.StoredHeader) error {
		s.state.SetCommitment(h.Header.Height, h.Commitment())
		x.stored(wire.RelayEvent{OnFork: true, Fork: fork}, h)
		return nil
	})
	if err != nil {
		return err
	}
	if !r.beats(top, s.state) {
		return forkTooShort
	}
	become(s.state, top)
	s.state.ForkCounter++
	s.at.Data = s.state.Bytes()
	return nil
}

// known reports whether a header is the main chain's at a height.
func known(s *wire.RelayState, h wire.StoredHeader, height uint32) bool {
	c, ok := s.Commitment(height)
	return ok && c == h.Commitment()
}

// verifyTransaction fails unless a Bitcoin transaction is in a block of the main chain
// with enough confirmations.
func verifyTransaction(x *call) error {
	a, err := wire.DecodeVerifyArgs(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	s, at := x.mainState()
	x.writable(signer)
	x.is(at, x.p.RelayState())
	if x.err != nil {
		return x.err
	}
	height := a.In.Header.Height
	proof := bitcoin.MerkleProof{TxID: a.Proof.TxID, Pos: a.Proof.Index, Hashes: a.Proof.Path, Height: height}
	switch {
	case height > s.Height:
		return ProgramFailedToComplete
	case s.Height-height+1 < a.Confirmations:
		return tooFewConfirmations
	case !known(s, a.In, height):
		return prevBlockCommitment
	case proof.Root() != a.In.Header.MerkleRoot:
		return wrongMerkleRoot
	}
	return nil
}

// compareHeight fails unless the main chain's height compares as demanded.
func compareHeight(x *call) error {
	value, op, err := wire.DecodeHeightArgs(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	s, at := x.mainState()
	x.writable(signer)
	x.is(at, x.p.RelayState())
	if x.err != nil {
		return x.err
	}
	holds := false
	switch op {
	case wire.HeightBelow:
		holds = s.Height < value
	case wire.HeightAtMost:
		holds = s.Height <= value
	case wire.HeightAbove:
		holds = s.Height > value
	case wire.HeightAtLeast:
		holds = s.Height >= value
	case wire.HeightEqual:
		holds = s.Height == value
	}
	if !holds {
		return wrongHeight
	}
	return nil
}

func forkSeeds(id uint64, submitter wire.Key) [][]byte {
	return [][]byte{[]byte("fork"), binary.LittleEndian.AppendUint64(nil, id), submitter[:]}
}
