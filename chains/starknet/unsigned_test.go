package starknet_test

import (
	"testing"

	"github.com/NethermindEth/juno/core/felt"

	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What is handed out can be signed with the library's public functions alone, and comes
// back as what was asked for.
func TestSigningWithThePublicFunctions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.node.absent[wire.Hex64(s.user.Address())] = true
	plan := s.opening(s.in(1))
	u := trial.Must(s.k.Build(t.Context(), plan))(t)
	var texts []string
	for i, text := range u.Txs {
		tx, err := starknet.UnsignedTransaction(text)
		trial.Do(t, err)
		if (tx.Deploy != nil) != (i == 0) || (tx.Invoke != nil) != (i == 1) || *tx.Sender != s.user.Address() || *tx.ChainID != wire.ShortString("SN_MAIN") {
			t.Fatalf("%+v", tx)
		}
		if tx.Deploy != nil {
			_, err = tx.Hash()
			wants(t, "a deployment without its class", err, "classHash")
			d := s.user.Deploy()
			tx.Deploy.ClassHash, tx.Deploy.ContractAddressSalt = &d.ClassHash, new(felt.Felt)
			tx.Deploy.ConstructorCalldata = []*felt.Felt{&d.ConstructorCalldata[0]}
			_, err = tx.Hash()
			wants(t, "a deployment that makes another account", err, "must make")
			tx.Deploy.ContractAddressSalt = &d.Salt
		}
		hash := trial.Must(tx.Hash())(t)
		signature := trial.Must(s.user.Sign(*hash))(t)
		_, err = tx.Sign()
		wants(t, "no signature", err, "signature")
		signed := trial.Must(tx.Sign(&signature[0], &signature[1]))(t)
		texts = append(texts, signed)
	}
	txs, err := s.k.Check(plan, texts)
	if err != nil || len(txs) != 2 {
		t.Fatalf("%+v, %v", txs, err)
	}
	for _, text := range []string{"", "{}", "garbage", texts[0]} {
		if _, err := starknet.UnsignedTransaction(text); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
