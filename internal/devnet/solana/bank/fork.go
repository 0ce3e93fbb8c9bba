package bank

import (
	"bytes"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// A fork that takes several transactions has an account of its submitter's, until it
// has more work than the main chain and takes its place.

// forkState reads a fork's account, which is created if it is not there.
func (x *call) forkState(id uint64, signer *Info) (f *wire.RelayFork, a *Info) {
	a = x.account("forkState")
	f = new(wire.RelayFork)
	if a.Owner == wire.SystemProgram {
		x.create(a, signer, wire.RelayForkSpace, x.Program, forkSeeds(id, signer.Key)...)
	} else {
		x.is(a, x.p.RelayFork(id, signer.Key))
		f = x.openFork(a)
	}
	x.writable(a)
	return f, a
}

// openFork reads a fork's account.
func (x *call) openFork(a *Info) (f *wire.RelayFork) {
	x.require(a.Owner == x.Program, ownedByWrongProgram)
	if x.typed(a, "ForkState"); x.err == nil {
		var err error
		f, err = wire.DecodeRelayFork(a.Data)
		x.require(err == nil, accountNotReadable)
	}
	return f
}

// fresh reports whether an account was only just created.
func fresh(a *Info) bool {
	return len(a.Data) >= 8 && bytes.Equal(a.Data[:8], make([]byte, 8))
}

// submitFork puts headers on a fork, and makes it the main chain once it is better.
func (r Rules) submitFork(x *call) error {
	args, err := wire.DecodeSubmitArgs(x.args, true)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	state, at := x.mainState()
	x.runs("systemProgram", wire.SystemProgram)
	fork, forkAt := x.forkState(args.Fork, signer)
	x.writable(signer)
	x.is(at, x.p.RelayState())
	x.writable(at)
	x.counted(args)
	if args.New {
		x.require(fresh(forkAt), discriminatorSet)
	} else {
		x.require(!fresh(forkAt), discriminatorMismatch)
	}
	if x.err != nil {
		return x.err
	}
	if args.New != (fork.Initialized == 0) {
		return wrongInit
	}
	rooted := x.p.Version == wire.V2 // v2 keeps the commitment of what the fork stands on as its first
	switch {
	case !args.New:
		if args.On.Commitment() != fork.TipCommitment {
			return prevBlockCommitment
		}
	case state.ForkCounter != args.Fork:
		return wrongForkID
	case !known(state, args.On, args.On.Header.Height):
		return prevBlockCommitment
	default:
		state.ForkCounter++
		fork.Initialized, fork.StartHeight = 1, args.On.Header.Height
		if rooted {
			fork.SetCommitment(0, args.On.Commitment())
			fork.Length = 1
		}
	}
	top, err := x.walk(r, args, func(h wire.StoredHeader) error {
		if fork.Length >= wire.RelayRing {
			return ProgramFailedToComplete
		}
		fork.SetCommitment(int(fork.Length), h.Commitment())
		fork.Length++
		x.stored(wire.RelayEvent{OnFork: true, Fork: args.Fork}, h)
		return nil
	})
	if err != nil {
		return err
	}
	if !r.beats(top, state) {
		fork.TipCommitment, fork.TipHash = top.Commitment(), top.Header.Hash()
		forkAt.Data, at.Data = fork.Bytes(), state.Bytes()
		return nil
	}
	if err := replace(state, fork, rooted); err != nil {
		return err
	}
	become(state, top)
	at.Data = state.Bytes()
	x.Emit(wire.RelayEvent{Fork: args.Fork, Start: fork.StartHeight, Block: top.Header.Hash(), Commitment: top.Commitment()}.Bytes())
	closeTo(forkAt, signer)
	return nil
}

// replace writes a fork's commitments over those of the main chain. v1 does not look
// whether the block that the fork stands on is still in the main chain.
func replace(s *wire.RelayState, f *wire.RelayFork, rooted bool) error {
	first := f.StartHeight + 1
	i := uint32(0)
	if rooted {
		if c, ok := s.Commitment(f.StartHeight); !ok || c != f.Commitment(0) {
			return forkRootGone
		}
		first, i = f.StartHeight, 1
	}
	for ; i < f.Length; i++ {
		s.SetCommitment(first+i, f.Commitment(int(i)))
	}
	return nil
}

// closeFork gives the rent of a fork's account back to its submitter.
func closeFork(x *call) error {
	id, err := wire.DecodeNumber(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	fork := x.account("forkState")
	x.openFork(fork)
	x.runs("systemProgram", wire.SystemProgram)
	x.writable(signer)
	x.is(fork, x.p.RelayFork(id, signer.Key))
	x.writable(fork)
	if x.err == nil {
		closeTo(fork, signer)
	}
	return x.err
}

// closeTo ends an account and gives its lamports to another.
func closeTo(a, to *Info) {
	to.Lamports += a.Lamports
	a.Lamports, a.Data, a.Owner = 0, nil, wire.SystemProgram
}
