package watchtower_test

import (
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var families = []family{
	{"EVM", true, devnet.Options{}, onEVM},
	{"Solana v1", false, devnet.Options{Solana: "v1"}, onSolana("v1")},
	{"Solana v2", false, devnet.Options{Solana: "v2"}, onSolana("v2")},
	{"Starknet", true, devnet.Options{Starknet: true}, onStarknet},
}

// nano is 10^-9 of a native token with some decimals.
func nano(n int64, decimals int64) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals-9), nil)
	return unit.Mul(unit, big.NewInt(n))
}

func onEVM(t testing.TB, n *devnet.Net) *side {
	net := n.EVM
	sequence := int64(0)
	s := &side{name: "EVM", version: net.Deployment().Version, factory: n.Chain(), user: net.User.Address.Hex(), token: net.Contracts().Token.Hex(), fair: 5e6}
	s.wallet, s.signer = devnet.SignEVM(net.User), devnet.SignEVM(net.Watchtower)
	s.native = func(address string) *big.Int {
		return trial.Must(net.Balance(t.Context(), evm.Native, common.HexToAddress(address)))(t)
	}
	s.mine = func(t testing.TB) {
		trial.Do(t, net.Mine(1))
	}
	s.openVault = func(t testing.TB, utxo bitcoin.OutPoint, confirmations uint8) chains.VaultID {
		t.Helper()
		v := trial.Must(n.EVM.OpenVault(t.Context(), net.LP, 777, net.VaultParams(net.Contracts().Token, 10, int64(confirmations)), utxo, [2]uint64{1_000_000, 500_000}))(t)
		return chains.VaultID{Owner: v.Owner.Hex(), ID: v.ID}
	}
	s.open = func(t testing.TB, o opening) json.RawMessage {
		t.Helper()
		sequence++
		d := trial.Must(net.Deployment().NewSwapData(evmwire.Terms{
			Kind: o.condition().Kind, Offerer: net.LP.Address, Claimer: net.User.Address, Token: net.Contracts().Token, Amount: big.NewInt(1e9), PayOut: true,
			SecurityDeposit: nano(5e6, 18), ClaimerBounty: nano(o.bounty, 18), DepositToken: evm.Native,
			ClaimData: trial.Must(net.Deployment().ClaimHash(o.condition()))(t), Sequence: big.NewInt(sequence), Expiry: net.Time().Add(time.Hour).Unix(),
		}))(t)
		trial.Do(t, net.Deposit(t.Context(), net.LP, d.Token, d.Amount))
		a := chains.Auth{Prefix: "initialize", Timeout: net.Time().Add(10 * time.Minute).Unix()}
		digest := trial.Must(net.Network().InitDigest(net.Deployment(), d, a.Timeout))(t)
		a.Signature = trial.Must(net.LP.SignDigest(digest))(t)
		calls := trial.Must(net.Deployment().Init(d, net.User.Address, a))(t)
		if _, err := net.User.SendAll(t.Context(), calls); err != nil {
			t.Fatal(err)
		}
		return trial.Must(json.Marshal(d))(t)
	}
	return s
}

func onSolana(version string) func(t testing.TB, n *devnet.Net) *side {
	return func(t testing.TB, n *devnet.Net) *side {
		net := n.Solana
		programs := trial.Must(net.Network().Version(version))(t)
		lp := &solana.Party{Net: net, Account: net.LP, Programs: programs}
		trial.Do(t, lp.Deposit(t.Context(), solana.WBTC, 1e9))
		sequence := uint64(0)
		return &side{name: "Solana", version: version, factory: n.SolanaChain(), user: net.User.Address.String(), token: solana.WBTC.String(), fair: 5e6,
			wallet: devnet.SignSolana(net.User),
			signer: devnet.SignSolana(net.Watchtower),
			native: func(address string) *big.Int {
				return new(big.Int).SetUint64(net.Lamports(trial.Must(solwire.ParseKey(address))(t)))
			},
			mine: func(testing.TB) {},
			open: func(t testing.TB, o opening) json.RawMessage {
				t.Helper()
				sequence++
				at := o.condition()
				output := o.output
				if at.Kind == chains.Onchain && output == nil {
					hash := rawtx.TxoHash(int64(at.Sats), at.Script)
					output = &hash
				}
				claimer, opener := net.User.Address, net.User
				if o.newcomer {
					claimer, opener = solwire.Key{1, 2, 3}, net.LP
				}
				d := trial.Must(programs.NewSwapData(solwire.Spec{
					Kind: at.Kind, Claim: trial.Must(solwire.ClaimHashOf(at))(t), TxoHash: output, ClaimerBounty: uint64(o.bounty), SecurityDeposit: 5e6,
					Offerer: net.LP.Address, Claimer: claimer, Token: solana.WBTC, DepositToken: solwire.WSOL,
					Amount: 50_000, PayOut: true, Sequence: sequence, Expiry: uint64(net.Time().Add(3 * time.Hour).Unix())}))(t)
				tx := trial.Must(programs.InitTx(d, opener.Address, uint64(net.Time().Add(time.Minute).Unix()), solana.FeeRate))(t)
				tx.Blockhash = net.Head().Hash
				trial.Do(t, tx.Sign(net.LP.Key))
				trial.Must(opener.SendTx(t.Context(), tx))(t)
				return trial.Must(json.Marshal(d))(t)
			}}
	}
}

func onStarknet(t testing.TB, n *devnet.Net) *side {
	net := n.Starknet
	lp := net.Party(net.LP)
	trial.Do(t, lp.Deposit(t.Context(), starknet.WBTC, big.NewInt(1e9)))
	sequence := uint64(0)
	return &side{name: "Starknet", version: "v1", factory: n.StarknetChain(), user: starkwire.Hex64(net.User.Address), token: starkwire.Hex64(starknet.WBTC), fair: 3e8,
		wallet: devnet.SignStarknet(net.User.Key),
		signer: devnet.SignStarknet(net.Watchtower.Key),
		native: func(address string) *big.Int {
			return trial.Must(net.Balance(starkwire.STRK, trial.Must(starkwire.ParseFelt(address))(t)))(t)
		},
		mine: func(testing.TB) { net.Elapse() },
		openVault: func(t testing.TB, utxo bitcoin.OutPoint, confirmations uint8) chains.VaultID {
			t.Helper()
			v := trial.Must(lp.OpenVault(t.Context(), big.NewInt(777), [2]starkwire.Felt{starknet.WBTC, starkwire.STRK}, [2]*big.Int{big.NewInt(10), big.NewInt(1e10)}, confirmations, utxo, [2]uint64{1_000_000, 500_000}))(t)
			return chains.VaultID{Owner: starkwire.Hex64(v.Owner), ID: big.NewInt(777)}
		},
		open: func(t testing.TB, o opening) json.RawMessage {
			t.Helper()
			sequence++
			d := trial.Must(net.Deployment().NewSwapData(starkwire.Terms{
				Kind: o.condition().Kind, Offerer: lp.Address(), Claimer: net.User.Address, Token: starknet.WBTC, Amount: big.NewInt(50_000), PayOut: true,
				SecurityDeposit: big.NewInt(5e17), ClaimerBounty: nano(o.bounty, 18), ClaimData: trial.Must(net.Deployment().ClaimHash(o.condition()))(t), Sequence: sequence,
				Expiry: net.Time().Add(time.Hour).Unix(),
			}))(t)
			id := trial.Must(lp.Open(d, net.Time().Add(time.Minute).Unix()))(t)
			trial.Do(t, net.Wait(t.Context(), id))
			return trial.Must(json.Marshal(d))(t)
		}}
}
