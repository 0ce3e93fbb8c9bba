package rawtx

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"
)

// A payment from an escrow to Bitcoin carries a nonce, so that one payment
// cannot claim two escrows: a time in its upper 40 bits and 24 random bits. The
// payout transaction shows it in its lock time and sequences
// (protocol: bitcoin.md §14.2).
const (
	nonceTimeBack = 700_000_000 // seconds by which a new nonce's time lies back, so that the lock time has long passed; liquidity providers want more than 600,000,000
	lockTimeBase  = 500_000_000 // lock times from here on are times, not heights
	lockTimeAge   = 24 * time.Hour

	nonceRandomBits = 24
	nonceRandomMask = 1<<nonceRandomBits - 1
	nonceSequence   = 0xFE000000 // no relative lock, signals replaceability
	nonceFlags      = 0xF0000000 // contracts demand these bits of a sequence
)

// NewNonce returns the nonce of a payment that is agreed on at now. The
// lower 24 bits of random go into it; they must differ between payments.
func NewNonce(now time.Time, random uint32) (uint64, error) {
	seconds := now.Unix() - nonceTimeBack
	if seconds < 0 || seconds >= 1<<40 {
		return 0, fmt.Errorf("time %s has no valid payment nonce", now.UTC().Format(time.RFC3339))
	}
	return uint64(seconds)<<nonceRandomBits | uint64(random&nonceRandomMask), nil
}

// NonceMadeWithin reports whether [NewNonce] made a nonce within slack of at.
func NonceMadeWithin(nonce uint64, at time.Time, slack time.Duration) bool {
	made := time.Unix(int64(nonce>>nonceRandomBits)+nonceTimeBack, 0)
	return made.Sub(at).Abs() <= slack
}

// NonceFields returns the lock time of a payout transaction with the given nonce
// and the sequence of all its inputs. The lock time must have passed a day
// before now; a transaction with a later one could not be mined in time.
func NonceFields(nonce uint64, now time.Time) (lockTime, sequence uint32, err error) {
	t := nonce>>nonceRandomBits + lockTimeBase
	if t > 1<<32-1 || int64(t) > now.Add(-lockTimeAge).Unix() {
		return 0, 0, errors.New("payment nonce is in the future")
	}
	return uint32(t), nonceSequence | uint32(nonce&nonceRandomMask), nil
}

// TxNonce reads the nonce back from a payout transaction: from its lock time and
// the sequence of its first input. With allInputs every input must repeat it, as
// the contracts of Solana and Starknet demand; those of EVM chains look at the
// first alone.
func TxNonce(tx *wire.MsgTx, allInputs bool) (uint64, error) {
	if len(tx.TxIn) == 0 || tx.LockTime < lockTimeBase {
		return 0, errors.New("transaction has no payment nonce")
	}
	low := tx.TxIn[0].Sequence & nonceRandomMask
	for i, in := range tx.TxIn {
		if i > 0 && !allInputs {
			break
		}
		if in.Sequence&nonceFlags != nonceFlags || in.Sequence&nonceRandomMask != low {
			return 0, fmt.Errorf("sequence %08x of input %d has no payment nonce", in.Sequence, i)
		}
	}
	return uint64(tx.LockTime-lockTimeBase)<<nonceRandomBits | uint64(low), nil
}
