package evm

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// contracts is one deployment as a [chains.VaultContract].
type contracts struct {
	chain *chain
	Deployment
}

var _ chains.VaultContract = (*contracts)(nil)

func (k *contracts) Version() string { return k.Deployment.Version }

func (k *contracts) Expect(spec chains.Spec) (chains.Escrow, error) {
	s, err := k.Deployment.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(s)
}

// Decode also demands the configured handlers, whatever kind the data claims to be.
func (k *contracts) Decode(data json.RawMessage) (chains.Escrow, error) {
	s, err := ParseSwapData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(s)
}

func (k *contracts) Diff(want, got chains.Escrow, may ...chains.Field) error {
	a, err := SwapDataOf(want)
	if err != nil {
		return err
	}
	b, err := SwapDataOf(got)
	if err != nil {
		return &chains.DiffError{Member: "data", Want: "escrow data", Got: err.Error()}
	}
	return Diff(a, b, may...)
}

func (k *contracts) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := k.Deployment.ClaimHash(c)
	return h[:], err
}

func (k *contracts) ClaimHashText(hash []byte) string { return ClaimHashText(hash) }

func (k *contracts) Public(e chains.Escrow) (json.RawMessage, error) {
	s, err := SwapDataOf(e)
	if err != nil {
		return nil, err
	}
	return s.Public()
}

// VerifyInit takes one round trip.
func (k *contracts) VerifyInit(ctx context.Context, e chains.Escrow, auth chains.Auth, _, sender string) (int64, error) {
	s, err := SwapDataOf(e)
	if err != nil {
		return 0, err
	}
	from, err := Address(sender, false)
	if err != nil {
		return 0, err
	}
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return 0, err
	}
	now := k.chain.env.Now()
	if err := k.chain.net.VerifyInit(k.Deployment, s, auth, common.HexToAddress(from), now, heads.Latest.Time); err != nil {
		return 0, err
	}
	return UsableUntil(auth, now), nil
}

// VerifyRefund takes no round trip.
func (k *contracts) VerifyRefund(_ context.Context, e chains.Escrow, auth chains.Auth) error {
	s, err := SwapDataOf(e)
	if err != nil {
		return err
	}
	return k.chain.net.VerifyRefund(k.Deployment, s, auth, k.chain.env.Now())
}

// Escrows takes one round trip, a second one for those that were opened, and for
// each query by claim hash the scan of the logs since its height.
func (k *contracts) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	facts := make([]chains.EscrowFact, len(queries))
	escrows := make([]*chains.Escrow, len(queries))
	for i, q := range queries {
		escrows[i] = q.Escrow
		if q.Escrow == nil {
			escrows[i], facts[i].Err = k.findEscrow(ctx, q)
			facts[i].Escrow = escrows[i]
		}
	}
	var hashes []common.Hash
	var asked []int
	for i, e := range escrows {
		if e != nil && facts[i].Err == nil {
			hashes = append(hashes, common.BytesToHash(e.Hash))
			asked = append(asked, i)
		}
	}
	var h headsRequest
	node := &along{Node: k.chain.node, extra: h.requests(k.chain.net)}
	read, err := k.ReadEscrows(ctx, node, hashes, chains.Heads{})
	if err == nil && node.extra != nil { // nothing was found to ask about: only the heads are left
		err = node.Batch(ctx, nil)
	}
	if err := node.answered(err); err != nil {
		return nil, err
	}
	heads, err := h.heads()
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		found := facts[i].Escrow
		facts[i] = read[n]
		facts[i].Escrow = found
	}
	for i, q := range queries {
		facts[i].Head = heads.Latest
		facts[i].Final = isFinal(facts[i], heads.Final)
		if q.Auth != nil {
			facts[i].Auth = k.authState(*q.Auth, heads, int64(h.safe.Timestamp))
		}
	}
	return facts, nil
}

// authState judges an authorisation whose signature was verified when it came.
func (k *contracts) authState(a chains.Auth, heads chains.Heads, safeTime int64) chains.AuthState {
	switch now := k.chain.env.Now().Unix(); {
	case Over(a, safeTime):
		return chains.AuthOver
	case a.Timeout-now >= int64(chains.AuthGrace.Seconds()) && heads.Latest.Time <= a.Timeout:
		return chains.AuthGood
	}
	return chains.AuthLate
}

// IDs takes no round trip.
func (k *contracts) IDs(signed []string) ([]string, error) { return IDs(signed) }

// Liquidity takes one round trip.
func (k *contracts) Liquidity(ctx context.Context, lp, token string) (chains.LPFunds, error) {
	a, err := Address(lp, false)
	if err != nil {
		return chains.LPFunds{}, err
	}
	t, err := TokenAddress(token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	return k.ReadFunds(ctx, k.chain.node, common.HexToAddress(a), common.HexToAddress(t))
}

// Estimate takes no round trip with a fee rate, one without.
func (k *contracts) Estimate(ctx context.Context, cost chains.Cost, feeRate string) (*big.Int, error) {
	n := k.chain.net
	var rate FeeRate
	var err error
	if feeRate != "" {
		rate, err = ParseFeeRate(feeRate)
		err = fault.At("feeRate", err)
	} else {
		rate, err = k.chain.currentRate(ctx)
	}
	if err != nil {
		return nil, err
	}
	s, payer, err := k.sample(cost)
	if err != nil {
		return nil, err
	}
	switch cost.Kind {
	case chains.CostInit:
		return n.InitCost(rate, s, payer), nil
	case chains.CostClaimHTLC, chains.CostClaimChain:
		return n.ClaimCost(rate, s, payer), nil
	case chains.CostVaultClaim:
		return n.AnyVaultClaimCost(rate), nil
	case chains.CostRelayHeader:
		return n.HeaderCost(rate), nil
	}
	return nil, fault.New(fault.Unsupported, "unknown expense %d", cost.Kind)
}

// sample is the dearest escrow of the kind that an expense is about: parties
// that are nobody, and a deposit above the bounty above zero, so that every
// transfer that can happen counts (protocol: chain-evm.md §6.3,
// swap-flows-escrow.md §8.2).
func (k *contracts) sample(cost chains.Cost) (SwapData, common.Address, error) {
	token, payer := Native, common.Address{0: 3}
	if cost.Token != "" {
		t, err := TokenAddress(cost.Token)
		if err != nil {
			return SwapData{}, payer, fault.At("token", err)
		}
		token = common.HexToAddress(t)
	}
	if cost.Payer != "" {
		a, err := Address(cost.Payer, false)
		if err != nil {
			return SwapData{}, payer, fault.At("wallet", err)
		}
		payer = common.HexToAddress(a)
	}
	s := SwapData{Offerer: common.Address{0: 1}, Claimer: common.Address{0: 2}, Token: token, Amount: big.NewInt(1),
		Sequence: new(big.Int), SecurityDeposit: big.NewInt(2), ClaimerBounty: big.NewInt(1), DepositToken: Native}
	switch cost.Kind {
	case chains.CostInit:
		s.Offerer, s.PayIn, s.Reputation = payer, true, true
	case chains.CostClaimChain:
		s.Kind, s.PayOut = chains.Onchain, true
	default:
		s.Kind, s.PayOut = chains.HTLC, true
	}
	return s, payer, nil
}

func (k *contracts) WithdrawalData(recipient string, raw [2]uint64) ([]byte, error) {
	return WithdrawalData(recipient, raw, nil)
}

func (k *contracts) WithdrawalDataLen(gasDrop bool) int { return PayoutFormat().Len(gasDrop) }

func (k *contracts) ParseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	return ParseWithdrawal(tx)
}

// Vaults takes one round trip, and a second one for vaults that are seen for the
// first time.
func (k *contracts) Vaults(ctx context.Context, ids []chains.VaultID) ([]chains.VaultFact, error) {
	refs := make([]VaultRef, len(ids))
	for i, id := range ids {
		ref, err := vaultRef(id)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	reads, heads, err := k.readVaults(ctx, refs)
	if err != nil {
		return nil, err
	}
	facts := make([]chains.VaultFact, len(ids))
	for i, r := range reads {
		facts[i] = r.Fact(heads.Latest)
	}
	return facts, nil
}

func (k *contracts) readVaults(ctx context.Context, refs []VaultRef) ([]VaultRead, chains.Heads, error) {
	var h headsRequest
	node := &along{Node: k.chain.node, extra: h.requests(k.chain.net)}
	reads, err := k.ReadVaults(ctx, node, refs, chains.Block{}, k.chain.knownParams)
	if err := node.answered(err); err != nil {
		return nil, chains.Heads{}, err
	}
	k.chain.learnParams(reads)
	heads, err := h.heads()
	return reads, heads, err
}

func vaultRef(id chains.VaultID) (VaultRef, error) {
	owner, err := Address(id.Owner, false)
	if err != nil {
		return VaultRef{}, fault.At("owner", err)
	}
	if !inBits(id.ID, 96) {
		return VaultRef{}, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	return VaultRef{Owner: common.HexToAddress(owner), ID: id.ID}, nil
}

// Withdrawals takes one round trip for the heads and then the scan of the logs
// since the lowest height: a round trip for every five ranges of 950 blocks.
func (k *contracts) Withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return nil, err
	}
	lookups := make([]WithdrawalLookup, len(queries))
	from := heads.Latest.Height
	for i, q := range queries {
		ref, err := vaultRef(q.Vault)
		if err != nil {
			return nil, err
		}
		to, err := Address(q.Recipient, false)
		if err != nil {
			return nil, fault.At("recipient", err)
		}
		lookups[i] = WithdrawalLookup{Vault: ref, Recipient: common.HexToAddress(to), TxID: q.TxID}
		from = min(from, q.From)
	}
	from = max(from, k.VaultManager.Height)
	final, err := k.ReadWithdrawals(ctx, k.chain.node, lookups, BlockRange{from, heads.Latest.Height})
	if err != nil {
		return nil, err
	}
	for i := range final {
		final[i].Head = heads.Latest
		final[i].Final = final[i].State != chains.WithdrawalNone && final[i].Height != 0 && final[i].Height <= heads.Final.Height
	}
	return final, nil
}

// DryRun takes one round trip.
func (k *contracts) DryRun(ctx context.Context, txs [][]byte) error {
	answers := make([]hexutil.Bytes, len(txs))
	requests := make([]Request, len(txs))
	for i, tx := range txs {
		data, err := ParseCall(tx)
		if err != nil {
			return err
		}
		requests[i] = callRequest(k.VaultManager.Address, data, "latest", &answers[i])
	}
	if err := k.chain.node.Batch(ctx, requests); err != nil {
		return err
	}
	for i, r := range requests {
		if r.Err != nil {
			return fault.New(fault.Upstream, "the vault's contract cannot read transaction %d: %w", i, r.Err)
		}
	}
	return nil
}

// RelayTip takes one round trip.
func (k *contracts) RelayTip(ctx context.Context) (uint32, error) {
	ask, err := relayABI().Pack("getBlockheight")
	if err != nil {
		return 0, err
	}
	var answer hexutil.Bytes
	if err := batch(ctx, k.chain.node, []Request{callRequest(k.BtcRelay.Address, ask, "latest", &answer)}); err != nil {
		return 0, err
	}
	var tip uint32
	err = unpack(relayABI(), "getBlockheight", answer, &tip)
	return tip, err
}

// relayHeader finds a block that the relay has stored, or why it has not.
func (k *contracts) relayHeader(ctx context.Context, block bitcoin.Hash, required uint32, heads chains.Heads) (StoredHeader, bool, error) {
	h, _, found, err := k.ReadHeader(ctx, k.chain.node, block, required, heads)
	return h, found, err
}
