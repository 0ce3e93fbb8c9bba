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
	Instruction int    // -1: the transaction as a whole
	Reason      string // a name; "" with IsCustom
	Custom      uint32 // with IsCustom, the program's own number
	IsCustom    bool
}

// ParseTxError reads a node's description of why a transaction failed, such as
// {"InstructionError":[2,{"Custom":6001}]} or "BlockhashNotFound". It fails on nothing.
func ParseTxError(raw json.RawMessage) TxError {
	e := TxError{Instruction: -1, Reason: name(raw)}
	var of struct{ InstructionError []json.RawMessage }
	if json.Unmarshal(raw, &of) != nil || len(of.InstructionError) != 2 {
		return e
	}
	var index uint8
	if json.Unmarshal(of.InstructionError[0], &index) != nil {
		return e
	}
	e.Instruction, e.Reason = int(index), ""
	var custom struct{ Custom *uint32 }
	switch {
	case json.Unmarshal(of.InstructionError[1], &custom) == nil && custom.Custom != nil:
		e.Custom, e.IsCustom = *custom.Custom, true
	default:
		e.Reason = name(of.InstructionError[1])
	}
	return e
}

// unnamed is the reason of an error that has no name.
const unnamed = "an error without a name"

// mostName is the length of the longest name of an error that is taken.
const mostName = 50

// name returns the name of an error, which is one word of letters, or an object with that
// as its one member. Whatever else a node says is left out: callers are shown the name.
func name(raw json.RawMessage) string {
	var text string
	var of map[string]json.RawMessage
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &of) == nil && len(of) == 1 {
		for text = range of {
		}
	}
	if text == "" || len(text) > mostName || strings.ContainsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }) {
		return unnamed
	}
	return text
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
		if plain, ok := withoutSOL[e.Reason]; ok {
			return fmt.Sprintf("%s (%s)", plain, e.Reason)
		}
		return e.Reason
	}
	var program Key
	what := fmt.Sprintf("instruction %d", e.Instruction)
	if e.Instruction < len(instructions) {
		program = instructions[e.Instruction].Program
		what = fmt.Sprintf("%s (%s)", what, p.Name(instructions[e.Instruction]))
	}
	if !e.IsCustom {
		return what + ": " + e.Reason
	}
	if name := p.ProgramError(program, e.Custom); name != "" {
		return fmt.Sprintf("%s: %s (%d)", what, name, e.Custom)
	}
	return fmt.Sprintf("%s: error %d of the program", what, e.Custom)
}
