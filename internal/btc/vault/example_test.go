package vault_test

import (
	"encoding/hex"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/vault"
)

func ExampleParseWithdrawal() {
	raw, err := hex.DecodeString("0200000002fbca15ea56543f01713c92dc842706955e1dbdb5f2691f472ce657103ac0a321" +
		"02000000008901008038e00decd6908691a568392434e28ae19b64c4cb11ac067a5b5d3f89b335d194000000000000000080" +
		"025802000000000000225120351ca99ce7cc341baf9a900503c2d3c7bf4d7cb2c9f54bd2a184a2642e1be020" +
		"0000000000000000266a248e493b885f71ad81a89c4815512432ddac4146710000000b6660e4c1000000002268ee740046c323")
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := rawtx.Decode(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		fmt.Println(err)
		return
	}
	evm := vault.PayoutFormat{RecipientLen: 20}
	payout, err := evm.Decode(w.Payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	amounts, err := w.Shares.Amounts(payout.Raw)
	fmt.Printf("%x gets %v, %v leave the vault at %s (%v)\n", payout.Recipient, payout.Raw, amounts.Total, w.Vault, err)
	// Output: 8e493b885f71ad81a89c4815512432ddac414671 gets [48962266305 577302132], [49154688011 579570929] leave the vault at 21a3c03a1057e62c471f69f2b5bd1d5e95062784dc923c71013f5456ea15cafb:2 (<nil>)
}
