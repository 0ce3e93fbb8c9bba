package bitcoin

import (
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

type statusJSON struct {
	Confirmed bool    `json:"confirmed"`
	Height    *uint32 `json:"block_height,omitempty"`
	Hash      string  `json:"block_hash,omitempty"`
	Time      int64   `json:"block_time,omitempty"`
}

type outputJSON struct {
	Script  string `json:"scriptpubkey"`
	Asm     string `json:"scriptpubkey_asm"`
	Type    string `json:"scriptpubkey_type"`
	Address string `json:"scriptpubkey_address,omitempty"`
	Value   int64  `json:"value"`
}

type inputJSON struct {
	TxID      string      `json:"txid"`
	Vout      uint32      `json:"vout"`
	Prevout   *outputJSON `json:"prevout"`
	ScriptSig string      `json:"scriptsig"`
	Asm       string      `json:"scriptsig_asm"`
	Witness   []string    `json:"witness,omitempty"`
	Coinbase  bool        `json:"is_coinbase"`
	Sequence  uint32      `json:"sequence"`
}

type txJSON struct {
	TxID     string       `json:"txid"`
	Version  int32        `json:"version"`
	LockTime uint32       `json:"locktime"`
	In       []inputJSON  `json:"vin"`
	Out      []outputJSON `json:"vout"`
	Size     int          `json:"size"`
	Weight   int          `json:"weight"`
	SigOps   int          `json:"sigops"`
	Fee      int64        `json:"fee"`
	Status   statusJSON   `json:"status"`
}

func (c *call) status(e *entry) statusJSON {
	if !c.sees(e.block) {
		return statusJSON{}
	}
	height := e.block.height
	return statusJSON{true, &height, e.block.Hash().String(), e.block.MsgBlock().Header.Timestamp.Unix()}
}

func outputOf(out *wire.TxOut) outputJSON {
	asm, _ := txscript.DisasmString(out.PkScript) // an unparsable script is shown as far as it goes
	j := outputJSON{Script: hex.EncodeToString(out.PkScript), Asm: asm, Type: "unknown", Value: out.Value}
	if a, err := bitcoin.AddressFromScript(out.PkScript, bitcoin.Regtest); err == nil {
		j.Address = a.String()
		j.Type = map[bitcoin.AddressType]string{bitcoin.P2PKH: "p2pkh", bitcoin.P2SH: "p2sh", bitcoin.P2WPKH: "v0_p2wpkh",
			bitcoin.P2WSH: "v0_p2wsh", bitcoin.P2TR: "v1_p2tr"}[a.Type()]
	} else if txscript.IsNullData(out.PkScript) {
		j.Type = "op_return"
	}
	return j
}

func (c *call) txJSON(e *entry) txJSON {
	j := txJSON{
		TxID:     e.id.String(),
		Version:  e.tx.Version,
		LockTime: e.tx.LockTime,
		In:       []inputJSON{},
		Out:      []outputJSON{},
		Size:     e.tx.SerializeSize(),
		Weight:   rawtx.Weight(e.tx),
		Status:   c.status(e),
	}
	coinbase := e.block != nil && e.pos == 0
	for _, in := range e.tx.TxIn {
		asm, _ := txscript.DisasmString(in.SignatureScript) // as above
		i := inputJSON{TxID: in.PreviousOutPoint.Hash.String(), Vout: in.PreviousOutPoint.Index,
			ScriptSig: hex.EncodeToString(in.SignatureScript), Asm: asm, Coinbase: coinbase, Sequence: in.Sequence}
		for _, item := range in.Witness {
			i.Witness = append(i.Witness, hex.EncodeToString(item))
		}
		if out, ok := c.net.output(in.PreviousOutPoint); ok {
			prevout := outputOf(out)
			i.Prevout = &prevout
			j.Fee += out.Value
		}
		j.In = append(j.In, i)
	}
	for _, out := range e.tx.TxOut {
		j.Out = append(j.Out, outputOf(out))
		j.Fee -= out.Value
	}
	if coinbase {
		j.Fee = 0
	}
	if c.fault.LyingTxs {
		j.Out[0].Value++
	}
	return j
}

func (c *call) entry() (*entry, error) {
	id, err := c.txid("txid")
	if err != nil {
		return nil, err
	}
	e, ok := c.net.find(id)
	if !ok {
		return nil, errNoTx
	}
	return e, nil
}

func (c *call) tx() (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	return c.txJSON(e), nil
}

func (c *call) txHex() (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	raw, err := rawtx.Encode(e.tx)
	if err != nil {
		return nil, err
	}
	return hex.EncodeToString(raw), nil
}

type outspendJSON struct {
	Spent  bool        `json:"spent"`
	TxID   string      `json:"txid,omitempty"`
	Vin    *int        `json:"vin,omitempty"`
	Status *statusJSON `json:"status,omitempty"`
}

func (c *call) outspends() (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	list := []outspendJSON{}
	for i := range e.tx.TxOut {
		s, ok := c.spender(wire.OutPoint{Hash: e.id, Index: uint32(i)})
		if !ok {
			list = append(list, outspendJSON{})
			continue
		}
		status := c.status(s.by)
		list = append(list, outspendJSON{true, s.by.id.String(), &s.vin, &status})
	}
	return list, nil
}

func (c *call) merkleProof() (any, error) {
	id, err := c.txid("txid")
	if err != nil {
		return nil, err
	}
	e, ok := c.net.find(id)
	if !ok || !c.sees(e.block) {
		return nil, errNoProof
	}
	proof, _ := bitcoin.BuildMerkleProof(e.block.txids, id, e.block.height)
	merkle := []string{}
	for _, h := range proof.Hashes {
		merkle = append(merkle, h.String())
	}
	pos := proof.Pos
	if c.fault.LyingProofs {
		merkle = append(merkle, id.String())
	}
	return map[string]any{"block_height": proof.Height, "merkle": merkle, "pos": pos}, nil
}

func decodeHex(text string) ([]byte, error) { return hex.DecodeString(strings.TrimSpace(text)) }
