package bitcoin_test

import (
	"encoding/hex"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

func ExampleParseAddress() {
	a, err := bitcoin.ParseAddress("BC1Q7NWAYK2PM4QF0S36CTQ7A6U5PQTVTUA7LUZ5Q0", bitcoin.Mainnet)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a, a.Type())
	fmt.Printf("%x\n", a.Script())

	_, err = bitcoin.ParseAddress("tb1qe6pa3ck25d9d0cmfhg5d5ck0qqw793s2w9s89h", bitcoin.Mainnet)
	fmt.Println(err != nil)
	// Output:
	// bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0 p2wpkh
	// 0014f4ddd25941dd4097c23ac2c1eeeb940816c5f3be
	// true
}

func ExamplePaymentLink() {
	a, err := bitcoin.ParseAddress("bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", bitcoin.Mainnet)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bitcoin.PaymentLink(a, 99))
	// Output: bitcoin:bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0?amount=0.00000099 <nil>
}

func ExampleMerkleProof_Verify() {
	var txids []bitcoin.Hash
	for i := range 5 {
		txids = append(txids, bitcoin.Hash{byte(i)})
	}
	header := bitcoin.Header{Height: 800_000, MerkleRoot: bitcoin.MerkleRoot(txids)}
	proof, found := bitcoin.BuildMerkleProof(txids, txids[3], header.Height)
	fmt.Println(found, len(proof.Hashes), proof.Verify(header))

	proof.TxID = bitcoin.Hash{9}
	fmt.Println(proof.Verify(header) != nil)
	// Output:
	// true 3 <nil>
	// true
}

func ExampleParseWithdrawal() {
	raw, err := hex.DecodeString("0200000002fbca15ea56543f01713c92dc842706955e1dbdb5f2691f472ce657103ac0a321" +
		"02000000008901008038e00decd6908691a568392434e28ae19b64c4cb11ac067a5b5d3f89b335d194000000000000000080" +
		"025802000000000000225120351ca99ce7cc341baf9a900503c2d3c7bf4d7cb2c9f54bd2a184a2642e1be020" +
		"0000000000000000266a248e493b885f71ad81a89c4815512432ddac4146710000000b6660e4c1000000002268ee740046c323")
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := bitcoin.DecodeTx(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		fmt.Println(err)
		return
	}
	evm := bitcoin.PayoutFormat{RecipientLen: 20}
	payout, err := evm.Decode(w.Payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	amounts, err := w.Shares.Amounts(payout.Raw)
	fmt.Printf("%x gets %v, %v leave the vault at %s (%v)\n", payout.Recipient, payout.Raw, amounts.Total, w.Vault, err)
	// Output: 8e493b885f71ad81a89c4815512432ddac414671 gets [48962266305 577302132], [49154688011 579570929] leave the vault at 21a3c03a1057e62c471f69f2b5bd1d5e95062784dc923c71013f5456ea15cafb:2 (<nil>)
}
