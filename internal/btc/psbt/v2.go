package psbt

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Key types of BIP-370: version 2 has no unsigned transaction, its parts stand in the maps.
const (
	psbt2TxVersion        = 0x02
	psbt2FallbackLockTime = 0x03
	psbt2InputCount       = 0x04
	psbt2OutputCount      = 0x05

	psbt2InTxID         = 0x0e
	psbt2InIndex        = 0x0f
	psbt2InSequence     = 0x10
	psbt2InLockTime     = 0x11
	psbt2InLockHeight   = 0x12
	psbt2OutAmount      = 0x03
	psbt2OutScript      = 0x04
	firstLockTime       = 500_000_000 // lower lock times are heights
	minPSBT2InputBytes  = 41          // with its txid and index
	minPSBT2OutputBytes = 15          // with its amount and script
)

// psbtV2 reads what follows the global map of a version 2 PSBT, and puts the
// unsigned transaction together.
func psbtV2(s *rawtx.Scanner, global psbtMap) (*wire.MsgTx, []psbtMap, error) {
	if global.get(psbtGlobalTx) != nil {
		return nil, nil, errors.New("a version 2 PSBT must not have an unsigned transaction")
	}
	version, err := global.number(psbt2TxVersion, 0)
	if err != nil {
		return nil, nil, err
	}
	ins, err := global.count(psbt2InputCount, len(s.Rest)/minPSBT2InputBytes)
	if err != nil {
		return nil, nil, err
	}
	outs, err := global.count(psbt2OutputCount, len(s.Rest)/minPSBT2OutputBytes)
	if err != nil {
		return nil, nil, err
	}
	inputs, err := scanMaps(s, ins)
	if err != nil {
		return nil, nil, err
	}
	outputs, err := scanMaps(s, outs)
	if err != nil {
		return nil, nil, err
	}
	tx := wire.NewMsgTx(int32(version))
	for i, m := range inputs {
		in, err := m.txIn()
		if err != nil {
			return nil, nil, fmt.Errorf("input %d: %w", i, err)
		}
		tx.AddTxIn(in)
	}
	for i, m := range outputs {
		amount, script := m.get(psbt2OutAmount), m.get(psbt2OutScript)
		if len(amount) != 8 || script == nil {
			return nil, nil, fmt.Errorf("output %d has no amount or script", i)
		}
		tx.AddTxOut(wire.NewTxOut(int64(binary.LittleEndian.Uint64(amount)), script))
	}
	tx.LockTime, err = psbt2LockTime(global, inputs)
	return tx, inputs, err
}

// count reads a number of maps that can be at most max.
func (m psbtMap) count(key byte, max int) (int, error) {
	s := rawtx.Scanner{Rest: m.get(key)}
	if len(s.Rest) == 0 {
		return 0, fmt.Errorf("field %02x is missing", key)
	}
	// A number needs no bytes after it, unlike the lengths that scanner.count reads.
	if len(s.Rest) == 1 && s.Rest[0] < 0xfd {
		if n := int(s.Rest[0]); n > 0 && n <= max {
			return n, nil
		}
		return 0, errors.New("it is truncated or empty")
	}
	if len(s.Rest) == 3 && s.Rest[0] == 0xfd {
		if n := int(binary.LittleEndian.Uint16(s.Rest[1:])); n >= 0xfd && n <= max {
			return n, nil
		}
	}
	return 0, fmt.Errorf("field %02x is not a valid number of inputs or outputs", key)
}

func (m psbtMap) txIn() (*wire.TxIn, error) {
	hash, err := chainhash.NewHash(m.get(psbt2InTxID))
	if err != nil {
		return nil, err
	}
	if m.get(psbt2InIndex) == nil {
		return nil, errors.New("the output index is missing")
	}
	index, err := m.number(psbt2InIndex, 0)
	if err != nil {
		return nil, err
	}
	sequence, err := m.number(psbt2InSequence, wire.MaxTxInSequenceNum)
	if err != nil {
		return nil, err
	}
	return &wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: *hash, Index: index}, Sequence: sequence}, nil
}

// psbt2LockTime is the lock time that satisfies every input that asks for one:
// a height if all of them can live with a height, else a time.
func psbt2LockTime(global psbtMap, inputs []psbtMap) (uint32, error) {
	fallback, err := global.number(psbt2FallbackLockTime, 0)
	if err != nil {
		return 0, err
	}
	asked, heights, times := false, true, true
	var height, time uint32
	for i, m := range inputs {
		t, err := m.number(psbt2InLockTime, 0)
		if err != nil {
			return 0, err
		}
		h, err := m.number(psbt2InLockHeight, 0)
		if err != nil {
			return 0, err
		}
		if h >= firstLockTime || t != 0 && t < firstLockTime {
			return 0, fmt.Errorf("input %d requires an invalid lock time", i)
		}
		if t == 0 && h == 0 {
			continue
		}
		asked, heights, times = true, heights && h != 0, times && t != 0
		height, time = max(height, h), max(time, t)
	}
	switch {
	case !asked:
		return fallback, nil
	case heights:
		return height, nil
	case times:
		return time, nil
	}
	return 0, errors.New("inputs require both a block height and a time as lock time")
}
