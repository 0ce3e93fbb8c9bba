package verify

import (
	"bytes"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToldVault is what a service says of a swap from Bitcoin through a vault, whose figures
// passed [ReceiveTold].
type ToldVault struct {
	psbt.VaultTerms                // that the transaction commits to, as it was read
	ID              chains.VaultID // canonical
	Output          *big.Int       // base units of the token that the recipient gets, as agreed
	FeeRate         float64        // sats/vB that the transaction must pay
}

// VaultTold checks the transaction of a swap from Bitcoin and its vault, as [SPV] checks
// those of an LP: the vault is open, bound to our relay and of the agreed token, the output
// that is spent is its own, unspent and confirmed, it can pay the payout with every fee, and
// the transaction names the recipient and the agreed amount in the vault's units. Of the
// fee shares the watchtower's is the service's word: its pay is part of the figures. Of want
// it uses the user, the token, the native token, the contract, the amount in sats, the
// network and the maximum fee rate. Pure.
func VaultTold(want SPVExpected, got ToldVault, facts VaultFacts) (*AcceptedVault, error) {
	contract, ok := want.Contract.(chains.VaultContract)
	if !ok {
		return nil, fault.New(fault.Unsupported, "the contracts have no vaults")
	}
	to, err := bitcoin.AddressFromScript(got.PayScript, want.Network)
	if err != nil {
		return nil, lp.Lie(lp.CheckAddress, "the payment: %w", err)
	}
	home, err := bitcoin.AddressFromScript(got.VaultScript, want.Network)
	if err != nil {
		return nil, lp.Lie(lp.CheckAddress, "the vault's output: %w", err)
	}
	none, pays := new(big.Int), big.NewInt(got.PaySats)
	want.ExactIn, want.CallerShare, want.LP = true, got.Shares.Caller, got.ID.Owner
	share := func(s uint32) *big.Int { return new(big.Int).SetUint64(uint64(s)) }
	q := &spv{SPVExpected: want, facts: facts, got: lp.SPVQuote{
		Address: got.ID.Owner, VaultID: got.ID.ID, VaultBTCAddress: home.String(), BTCAddress: to.String(), BTCUTXO: got.Vault.String(), BTCFeeRate: got.FeeRate,
		BTCAmount: pays, BTCAmountSwap: pays, BTCAmountGas: none, Total: got.Output, TotalGas: none, TotalFeeBTC: none, SwapFeeBTC: none, SwapFee: none,
		GasSwapFeeBTC: none, GasSwapFee: none, CallerFeeShare: share(got.Shares.Caller), FrontingFeeShare: share(got.Shares.Fronting), ExecutionFeeShare: share(got.Shares.Execution),
	}}
	err = first(q.numbers, q.feeRate, q.addresses, q.output, q.shares, q.chain, func() error {
		if q.sats != got.VaultValue {
			return lp.Lie(lp.CheckUTXO, "the vault's output holds %d sats, the transaction says %d", q.sats, got.VaultValue)
		}
		data, err := contract.WithdrawalData(want.User, q.raw)
		if err == nil && !bytes.Equal(data, got.Data) {
			err = lp.Lie(lp.CheckVaultWithdrawal, "the transaction tells the vault %x, but %x pays %s base units to %s", got.Data, data, got.Output, want.User)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return q.vaultPart(), nil
}

// cut reports whether an amount is less than another by no more than what a vault's unit
// may cost of it.
func cut(got, want *big.Int) bool {
	lost := bigs.Sub(want, got)
	return lost.Sign() >= 0 && want.Sign() > 0 && bigs.MulDiv(lost, million, want).Cmp(big.NewInt(maxLostPPM)) <= 0
}
