package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// firstError is the number of a program's first own error.
const firstError = 6000

var swapErrors = [...]string{
	"AuthExpired", "NotExpiredYet", "AlreadyExpired", "InvalidSecret", "InsufficientFunds", "KindUnknown", "TooManyConfirmations",
	"InvalidTxVerifyProgramId", "InvalidTxVerifyIx", "InvalidTxVerifyTxid", "InvalidTxVerifyConfirmations", "InvalidTx", "InvalidNonce", "InvalidVout",
	"InvalidAccountWritability", "InvalidDataAccount", "InvalidUserData",
	"InvalidBlockheightVerifyProgramId", "InvalidBlockheightVerifyIx", "InvalidBlockheightVerifyHeight", "InvalidBlockheightVerifyOperation",
	"SignatureVerificationFailedInvalidProgram", "SignatureVerificationFailedAccountsLength", "SignatureVerificationFailedDataLength",
	"SignatureVerificationFailedInvalidHeader", "SignatureVerificationFailedInvalidData", "InvalidSwapDataPayIn", "InvalidSwapDataNonce",
}

var relayErrors = [...]string{
	"PrevBlockCommitment", "PrevBlock", "ErrDiffTarget", "ErrPowToolow", "ErrTimestampToolow", "ErrTimestampTooHigh", "InvalidHeaderTopic",
	"NoHeaders", "ForkTooShort", "ErrInit", "BlockConfirmations", "MerkleRoot", "InvalidBlockheight", "InvalidForkId", "InvalidRemainingAccounts",
	"ForkRootBlockNotInMainChain", // v2 only
}

// anchorErrors are errors of the framework that the programs are written in: of their
// accounts, before any code of theirs runs.
var anchorErrors = map[uint32]string{
	100: "InstructionMissing", 101: "InstructionFallbackNotFound", 102: "InstructionDidNotDeserialize",
	2000: "ConstraintMut", 2001: "ConstraintHasOne", 2002: "ConstraintSigner", 2003: "ConstraintRaw", 2004: "ConstraintOwner",
	2006: "ConstraintSeeds", 2009: "ConstraintAssociated", 2011: "ConstraintClose", 2012: "ConstraintAddress", 2014: "ConstraintTokenMint", 2015: "ConstraintTokenOwner", 2019: "ConstraintSpace",
	3000: "AccountDiscriminatorAlreadySet", 3001: "AccountDiscriminatorNotFound", 3002: "AccountDiscriminatorMismatch", 3003: "AccountDidNotDeserialize", 3005: "AccountNotEnoughKeys",
	3007: "AccountOwnedByWrongProgram", 3008: "InvalidProgramId", 3010: "AccountNotSigner", 3012: "AccountNotInitialized",
}

// ProgramError names an error number of one of the programs, "" if it has no name.
// The same number means other things in other programs.
func (p Programs) ProgramError(program Key, number uint32) string {
	if name, ok := anchorErrors[number]; ok && (program == p.Swap || program == p.Relay) {
		return name
	}
	i := int64(number) - firstError
	switch {
	case i < 0:
	case program == p.Swap && i < int64(len(swapErrors)):
		return swapErrors[i]
	case program == p.Relay && i < int64(len(relayErrors)) && (p.Version == V2 || i < 15):
		return relayErrors[i]
	}
	return ""
}

// TxError is why a transaction failed, as nodes say it.
type TxError struct {
	Instruction int // -1: the transaction as a whole
	Reason      string
	Custom      uint32 // with IsCustom, the program's own number
	IsCustom    bool
}

// ParseTxError reads a node's description of why a transaction failed, such as
// {"InstructionError":[2,{"Custom":6001}]} or "BlockhashNotFound". It fails on nothing:
// what it does not know becomes the reason.
func ParseTxError(raw json.RawMessage) TxError {
	e := TxError{Instruction: -1, Reason: fmt.Sprintf("%.200s", raw)}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		e.Reason = fmt.Sprintf("%.200s", text)
		return e
	}
	var of struct{ InstructionError []json.RawMessage }
	if json.Unmarshal(raw, &of) != nil || len(of.InstructionError) != 2 {
		return e
	}
	var index uint8
	if json.Unmarshal(of.InstructionError[0], &index) != nil {
		return e
	}
	e.Instruction = int(index)
	var custom struct{ Custom *uint32 }
	switch {
	case json.Unmarshal(of.InstructionError[1], &text) == nil:
		e.Reason = fmt.Sprintf("%.200s", text)
	case json.Unmarshal(of.InstructionError[1], &custom) == nil && custom.Custom != nil:
		e.Custom, e.IsCustom = *custom.Custom, true
	}
	return e
}

// withoutSOL are the ways in which a transaction fails before its first instruction or
// after its last because somebody lacks SOL, which a node names only.
var withoutSOL = map[string]string{
	"AccountNotFound":          "the account that pays the fee has no SOL",
	"InsufficientFundsForFee":  "the account that pays the fee has less SOL than that",
	"InsufficientFundsForRent": "an account would be left with less SOL than it has to keep",
}

// Explain says why a transaction failed, with the name that the program of the
// failing instruction gives the error.
func (p Programs) Explain(e TxError, instructions []Instruction) string {
	if e.Instruction < 0 {
		for name, plain := range withoutSOL {
			if strings.Contains(e.Reason, `"`+name+`"`) || e.Reason == name {
				return fmt.Sprintf("%s (%s)", plain, name)
			}
		}
		return e.Reason
	}
	if e.Instruction >= len(instructions) {
		return e.Reason
	}
	program := instructions[e.Instruction].Program
	what := fmt.Sprintf("instruction %d (%s)", e.Instruction, p.Name(instructions[e.Instruction]))
	if !e.IsCustom {
		return what + ": " + e.Reason
	}
	if name := p.ProgramError(program, e.Custom); name != "" {
		return fmt.Sprintf("%s: %s (%d)", what, name, e.Custom)
	}
	return fmt.Sprintf("%s: error %d of the program", what, e.Custom)
}
