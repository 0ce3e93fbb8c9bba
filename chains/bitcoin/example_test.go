package bitcoin_test

import (
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

func ExampleMerkleProof_Verify() {
	var txids []bitcoin.Hash
	for i := range 5 {
		txids = append(txids, bitcoin.Hash{byte(i)})
	}
	root, err := bitcoin.ParseHash("91c35316b8c1297aab874bc34a6d390ba237199500070eb398a2f76f25b3e137")
	if err != nil {
		fmt.Println(err)
		return
	}
	header := bitcoin.Header{Height: 800_000, MerkleRoot: root}
	proof, found := bitcoin.BuildMerkleProof(txids, txids[3], header.Height)
	fmt.Println(found, len(proof.Hashes), proof.Verify(header))

	proof.TxID = bitcoin.Hash{9}
	fmt.Println(proof.Verify(header) != nil)
	// Output:
	// true 3 <nil>
	// true
}
