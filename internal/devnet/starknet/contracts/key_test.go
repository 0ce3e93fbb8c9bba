package contracts_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestSignTransaction(t *testing.T) {
	network, _ := wire.NetworkFor(bitcoin.Testnet4)
	k := contracts.KeyOf("user")
	rate := wire.FeeRate{L1: big.NewInt(1), L2: big.NewInt(2), L1Data: big.NewInt(3)}
	transfer := trial.Must(wire.Transfer(wire.STRK, wire.FeltOf(5), big.NewInt(7)))(t)
	for name, tx := range map[string]*wire.Transaction{
		"invoke": network.NewInvoke(k.Address(), 1, rate, []wire.Call{transfer}),
		"deploy": network.NewDeploy(k.Address(), rate),
	} {
		// As a wallet: out of the text that is handed out, and back as a text.
		tx := trial.Must(wire.ParseTransaction(tx.String()))(t)
		trial.Do(t, k.SignTransaction(tx))
		signed := trial.Must(wire.ParseTransaction(tx.String()))(t)
		hash, err := signed.Hash()
		if err != nil || !wire.SignedByKey(k.Public(), hash, signed.Signature) {
			t.Errorf("%s: the signature is not the key's, %v", name, err)
		}
		if wire.SignedByKey(contracts.KeyOf("stranger").Public(), hash, signed.Signature) {
			t.Errorf("%s: signed by anybody", name)
		}
		if tx.Type == wire.DeployAccount && signed.Deploy.Address() != k.Address() {
			t.Errorf("deploys %s", wire.Hex64(signed.Deploy.Address()))
		}
		if contracts.KeyOf("stranger").SignTransaction(tx) == nil {
			t.Errorf("%s: a stranger signs", name)
		}
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	k := contracts.KeyOf("user")
	for _, s := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", k)} {
		if s != "***" {
			t.Error(s)
		}
	}
	if k != contracts.KeyOf("user") || k.Address() == contracts.KeyOf("other").Address() {
		t.Error("a name has not one key of its own")
	}
}
