package wire

import "strings"

// role is one account of an instruction: what the program calls it, and how it is
// passed. An optional account that is absent is the program's own id, read-only.
type role struct {
	name                       string
	signer, writable, optional bool
}

// layout is an instruction of one of the programs (§7, §19).
type layout struct {
	name  string
	id    Discriminator
	roles []role
}

// Names of instructions, as in the programs.
const (
	ixDeposit       = "deposit"
	ixWithdraw      = "withdraw"
	ixInitPayIn     = "offerer_initialize_pay_in"
	ixInit          = "offerer_initialize"
	ixRefund        = "offerer_refund"
	ixRefundPayIn   = "offerer_refund_pay_in"
	ixClaim         = "claimer_claim"
	ixClaimPayOut   = "claimer_claim_pay_out"
	ixInitData      = "init_data"
	ixWriteData     = "write_data"
	ixCloseData     = "close_data"
	ixRelayInit     = "initialize"
	ixSubmit        = "submit_block_headers"
	ixSubmitShort   = "submit_short_fork_headers"
	ixSubmitFork    = "submit_fork_headers"
	ixCloseFork     = "close_fork_account"
	ixVerifyTx      = "verify_transaction"
	ixCompareHeight = "block_height"
)

var (
	swapV1 = layouts(map[string]string{
		ixDeposit:     "signer:sw signerAta:-w userData:-w vault:-w vaultAuthority:-- mint:-- systemProgram:-- tokenProgram:--",
		ixWithdraw:    "signer:sw signerAta:-w userData:-w vault:-w vaultAuthority:-- mint:-- tokenProgram:--",
		ixInitPayIn:   "offerer:sw claimer:s- offererAta:-w escrowState:-w vault:-w vaultAuthority:-- mint:-- systemProgram:-- tokenProgram:-- claimerUserData:--? claimerAta:--?",
		ixInit:        "claimer:sw offerer:s- offererUserData:-w escrowState:-w mint:-- systemProgram:-- claimerUserData:--? claimerAta:--?",
		ixRefund:      "offerer:sw claimer:-w escrowState:-w offererUserData:-w claimerUserData:-w? ixSysvar:--?",
		ixRefundPayIn: "offerer:sw claimer:-w offererAta:-w escrowState:-w vault:-w vaultAuthority:-- tokenProgram:-- claimerUserData:-w? ixSysvar:--?",
		ixClaim:       "signer:sw initializer:-w escrowState:-w ixSysvar:-- claimerUserData:-w data:-w?",
		ixClaimPayOut: "signer:sw initializer:-w escrowState:-w ixSysvar:-- claimerAta:-w vault:-w vaultAuthority:-- tokenProgram:-- data:-w?",
		ixInitData:    "signer:sw data:sw",
		ixWriteData:   "signer:sw data:-w",
		ixCloseData:   "signer:sw data:-w",
	})
	swapV2 = layouts(map[string]string{
		ixDeposit:  "signer:sw signerAta:-w userData:-w vault:-w mint:-- systemProgram:-- tokenProgram:--",
		ixWithdraw: "signer:sw signerAta:-w userData:-w vault:-w mint:-- tokenProgram:--",
		// The claimer signs too unless it is paid out.
		ixInitPayIn:   "offerer:s- claimer:-- initializer:sw offererAta:-w escrowState:-w vault:-w mint:-- systemProgram:-- tokenProgram:-- claimerUserData:--? claimerAta:--?",
		ixInit:        "offerer:s- claimer:-- initializer:sw offererUserData:-w escrowState:-w mint:-- systemProgram:-- claimerUserData:--? claimerAta:--?",
		ixRefund:      "offerer:-w claimer:-w escrowState:-w offererUserData:-w claimerUserData:-w? ixSysvar:--?",
		ixRefundPayIn: "offerer:-w claimer:-w offererAta:-w escrowState:-w vault:-w tokenProgram:-- claimerUserData:-w? ixSysvar:--?",
		ixClaim:       "signer:sw offerer:-w claimer:-w escrowState:-w ixSysvar:-- claimerUserData:-w data:-w?",
		ixClaimPayOut: "signer:sw offerer:-w claimer:-w escrowState:-w ixSysvar:-- claimerAta:-w vault:-w tokenProgram:-- data:-w?",
		ixInitData:    "signer:sw data:sw",
		ixWriteData:   "signer:sw data:-w",
		ixCloseData:   "signer:sw data:-w",
	})
	// Header topics follow the accounts of what adds headers, one for each.
	relayLayouts = layouts(map[string]string{
		ixRelayInit:     "signer:sw mainState:-w headerTopic:-- systemProgram:--",
		ixSubmit:        "signer:sw mainState:-w",
		ixSubmitShort:   "signer:sw mainState:-w",
		ixSubmitFork:    "signer:sw mainState:-w forkState:-w systemProgram:--",
		ixCloseFork:     "signer:sw forkState:-w systemProgram:--",
		ixVerifyTx:      "signer:sw mainState:--",
		ixCompareHeight: "signer:sw mainState:--",
	})
)

func layouts(texts map[string]string) map[string]layout {
	all := make(map[string]layout, len(texts))
	for name, text := range texts {
		l := layout{name: name, id: NameOf("global", name)}
		for _, field := range strings.Fields(text) {
			what, flags, _ := strings.Cut(field, ":")
			l.roles = append(l.roles, role{what, flags[0] == 's', flags[1] == 'w', strings.HasSuffix(flags, "?")})
		}
		all[name] = l
	}
	return all
}

// swap returns the swap program's instructions.
func (p Programs) swap() map[string]layout {
	if p.Version == V2 {
		return swapV2
	}
	return swapV1
}

// find returns the layout that instruction data begins with.
func find(all map[string]layout, data []byte) (layout, bool) {
	if len(data) < len(Discriminator{}) {
		return layout{}, false
	}
	for _, l := range all {
		if l.id == Discriminator(data[:8]) {
			return l, true
		}
	}
	return layout{}, false
}
