package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// Why a transaction failed is said with the instruction's name and the error's name
// in the program that it calls: the same number means other things elsewhere.
func TestExplain(t *testing.T) {
	_, user := wallet(1)
	_, other := wallet(2)
	d := &SwapData{Offerer: user, Claimer: other, Token: WSOL, PayIn: true, OffererATA: &Key{}, ClaimerATA: &Key{}}
	for _, p := range []Programs{firstV1, firstV2} {
		instructions := []Instruction{SetLimit(5), p.RefundInstruction(d, 0), p.relayCall(ixCloseFork, new(writer).u64(1), user, p.RelayFork(1, user), SystemProgram), Transfer(user, other, 1), {Program: other}}
		for text, want := range map[string]string{
			`{"InstructionError":[1,{"Custom":6001}]}`:               "instruction 1 (offerer_refund_pay_in): NotExpiredYet (6001)",
			`{"InstructionError":[1,{"Custom":3012}]}`:               "instruction 1 (offerer_refund_pay_in): AccountNotInitialized (3012)",
			`{"InstructionError":[2,{"Custom":6001}]}`:               "instruction 2 (close_fork_account): PrevBlock (6001)",
			`{"InstructionError":[3,{"Custom":1}]}`:                  "instruction 3 (transfer of SOL): error 1 of the program",
			`{"InstructionError":[4,{"Custom":6001}]}`:               "instruction 4 (instruction of " + other.String() + "): error 6001 of the program",
			`{"InstructionError":[0,"ComputationalBudgetExceeded"]}`: "instruction 0 (compute unit limit): ComputationalBudgetExceeded",
			`"BlockhashNotFound"`:                                    "BlockhashNotFound",
			`{"InsufficientFundsForRent":{"account_index":0}}`:       "an account would be left with less SOL than it has to keep (InsufficientFundsForRent)",
			`"AccountNotFound"`:                                      "the account that pays the fee has no SOL (AccountNotFound)",
			`"InsufficientFundsForFee"`:                              "the account that pays the fee has less SOL than that (InsufficientFundsForFee)",
			`"ProgramAccountNotFound"`:                               "ProgramAccountNotFound",
			`{"InstructionError":[9,{"Custom":6001}]}`:               "instruction 9: error 6001 of the program",
			`"https://node/?key=a1"`:                                 "an error without a name",
			`{"InstructionError":[0,{"BorshIoError":"of key a1"}]}`:  "instruction 0 (compute unit limit): BorshIoError",
			`{"InstructionError":[0,"of key a1"]}`:                   "instruction 0 (compute unit limit): an error without a name",
			`"` + strings.Repeat("x", 5000) + `"`:                    "an error without a name",
		} {
			if got := p.Explain(ParseTxError(json.RawMessage(text)), instructions); got != want {
				t.Errorf("%s %s: %q, want %q", p.Version, text, got, want)
			}
		}
		if got := p.ProgramError(p.Relay, 6015); (got == "ForkRootBlockNotInMainChain") != (p.Version == V2) {
			t.Errorf("%s: error 6015 of the relay is %q", p.Version, got)
		}
	}
}
