package bank

import (
	"encoding/binary"
	"math"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Errors of the token program.
const (
	tokenNotRentExempt       Custom = 0
	tokenInsufficientFunds   Custom = 1
	tokenInvalidMint         Custom = 2
	tokenMintMismatch        Custom = 3
	tokenOwnerMismatch       Custom = 4
	tokenFixedSupply         Custom = 5
	tokenAlreadyInUse        Custom = 6
	tokenNativeNotSupported  Custom = 10
	tokenNonNativeHasBalance Custom = 11
	tokenInvalidInstruction  Custom = 12
	tokenInvalidState        Custom = 13
	tokenOverflow            Custom = 14
	tokenAuthorityType       Custom = 15
	tokenMintCannotFreeze    Custom = 16
	tokenFrozen              Custom = 17
	tokenDecimalsMismatch    Custom = 18
	tokenNonNative           Custom = 19
)

var tokenErrorTexts = map[Custom]string{
	tokenNotRentExempt:       "Lamport balance below rent-exempt threshold",
	tokenInsufficientFunds:   "insufficient funds",
	tokenInvalidMint:         "Invalid Mint",
	tokenMintMismatch:        "Account not associated with this Mint",
	tokenOwnerMismatch:       "owner does not match",
	tokenFixedSupply:         "the total supply of this token is fixed",
	tokenAlreadyInUse:        "account or token already in use",
	tokenNativeNotSupported:  "Instruction does not support native tokens",
	tokenNonNativeHasBalance: "Non-native account can only be closed if its balance is zero",
	tokenInvalidInstruction:  "Invalid instruction",
	tokenInvalidState:        "Invalid account state for operation",
	tokenOverflow:            "Operation overflowed",
	tokenAuthorityType:       "Account does not support specified authority type",
	tokenMintCannotFreeze:    "This token mint cannot freeze accounts",
	tokenFrozen:              "Account is frozen",
	tokenDecimalsMismatch:    "decimals different from the Mint decimals",
	tokenNonNative:           "Instruction does not support non-native tokens",
}

// tokenNames are the instructions by number, as the program logs them.
var tokenNames = [...]string{
	"InitializeMint", "InitializeAccount", "InitializeMultisig", "Transfer", "Approve", "Revoke", "SetAuthority", "MintTo", "Burn", "CloseAccount",
	"FreezeAccount", "ThawAccount", "TransferChecked", "ApproveChecked", "MintToChecked", "BurnChecked", "InitializeAccount2", "SyncNative", "InitializeAccount3",
	"InitializeMultisig2", "InitializeMint2", "GetAccountDataSize", "InitializeImmutableOwner", "AmountToUiAmount", "UiAmountToAmount",
}

// token is the SPL token program, without multiple signatures for one owner.
func token(c *Call) error {
	err := tokenCall(c)
	if number, ok := err.(Custom); ok {
		c.Log("Error: %s", tokenErrorTexts[number])
	}
	return err
}

func tokenCall(c *Call) error {
	in := &args{data: c.Data}
	kind := in.u8()
	if in.short || int(kind) >= len(tokenNames) {
		return tokenInvalidInstruction
	}
	c.Log("Instruction: %s", tokenNames[kind])
	var amount uint64
	var decimals = -1
	switch kind {
	case 3, 4, 7, 8:
		amount = in.u64()
	case 12, 13, 14, 15:
		amount, decimals = in.u64(), int(in.u8())
	}
	if in.short {
		return tokenInvalidInstruction
	}
	switch kind {
	case 3, 12:
		return moveTokens(c, amount, decimals)
	case 4, 13:
		return approve(c, amount, decimals)
	case 5:
		return revoke(c)
	case 7, 14:
		return mintTokens(c, amount, decimals)
	case 8, 15:
		return burnTokens(c, amount, decimals)
	case 9:
		return closeToken(c)
	case 10, 11:
		return freezeToken(c, kind == 10)
	case 17:
		return syncNative(c)
	case 21:
		c.Return(binary.LittleEndian.AppendUint64(nil, wire.TokenAccountSpace))
		return nil
	case 22:
		return initializeImmutableOwner(c)
	}
	return setUp(c, kind, in)
}

// setUp carries out what makes mints and accounts, or changes who may do what with them.
func setUp(c *Call, kind byte, in *args) error {
	switch kind {
	case 0, 20:
		m := mintData{decimals: in.u8(), authority: option(in.key())}
		if in.u8() == 1 {
			m.freeze = option(in.key())
		}
		if in.short {
			return tokenInvalidInstruction
		}
		return initializeMint(c, m)
	case 1:
		owner, err := c.Account(2)
		if err != nil {
			return err
		}
		return initializeToken(c, owner.Key)
	case 16, 18:
		owner := in.key()
		if in.short {
			return tokenInvalidInstruction
		}
		return initializeToken(c, owner)
	case 6:
		of := in.u8()
		var to *Key
		if in.u8() == 1 {
			to = option(in.key())
		}
		if in.short || of > 3 {
			return tokenInvalidInstruction
		}
		return setAuthority(c, of, to)
	}
	return tokenInvalidInstruction
}

// initializeImmutableOwner says that nothing is to be done, for an account that is new.
func initializeImmutableOwner(c *Call) error {
	a, err := c.Account(0)
	if err != nil {
		return err
	}
	if len(a.Data) != wire.TokenAccountSpace {
		return InvalidAccountData
	}
	if a.Data[108] != tokenNew {
		return tokenAlreadyInUse
	}
	c.Log("Please upgrade to SPL Token 2022 for immutable owner support")
	return nil
}

func initializeMint(c *Call, m mintData) error {
	a, err := c.Account(0)
	if err != nil {
		return err
	}
	was, err := parseMint(a.Data)
	switch {
	case err != nil:
		return err
	case was.initialized:
		return tokenAlreadyInUse
	case a.Lamports < wire.Rent(len(a.Data)):
		return tokenNotRentExempt
	}
	m.initialized = true
	a.Data = m.bytes()
	return nil
}

func initializeToken(c *Call, owner Key) error {
	a, err := c.Account(0)
	if err != nil {
		return err
	}
	mint, err := c.Account(1)
	if err != nil {
		return err
	}
	t, err := parseToken(a.Data)
	rent := wire.Rent(len(a.Data))
	switch {
	case err != nil:
		return err
	case t.state != tokenNew:
		return tokenAlreadyInUse
	case a.Lamports < rent:
		return tokenNotRentExempt
	}
	t = tokenData{mint: mint.Key, owner: owner, state: tokenOpen}
	if mint.Key == wire.WSOL {
		t.native, t.amount = &rent, a.Lamports-rent
	} else if m, err := parseMint(mint.Data); err != nil || !m.initialized || mint.Owner != wire.TokenProgram {
		return tokenInvalidMint
	}
	a.Data = t.bytes()
	return nil
}

// opened reads the i-th account as a token account in use.
func opened(c *Call, i int) (*Info, tokenData, error) {
	a, err := c.Account(i)
	if err != nil {
		return nil, tokenData{}, err
	}
	t, err := parseToken(a.Data)
	if err == nil && t.state == tokenNew {
		err = UninitializedAccount
	}
	if err == nil && a.Owner != wire.TokenProgram {
		err = IncorrectProgramID
	}
	return a, t, err
}

// minted reads the i-th account as a mint.
func minted(c *Call, i, decimals int) (*Info, mintData, error) {
	a, err := c.Account(i)
	if err != nil {
		return nil, mintData{}, err
	}
	m, err := readMint(&a.Account)
	if err == nil && decimals >= 0 && int(m.decimals) != decimals {
		err = tokenDecimalsMismatch
	}
	return a, m, err
}

// authorized demands that the i-th account is an authority and has signed.
func authorized(c *Call, i int, who Key) error {
	a, err := c.Account(i)
	switch {
	case err != nil:
		return err
	case a.Key != who:
		return tokenOwnerMismatch
	case !a.Signer:
		return MissingRequiredSignature
	}
	return nil
}

// spend takes an amount off an account for its owner or delegate, the i-th account.
func (t *tokenData) spend(c *Call, i int, amount uint64) error {
	who, err := c.Account(i)
	if err != nil {
		return err
	}
	if t.delegate != nil && who.Key == *t.delegate {
		if err := authorized(c, i, *t.delegate); err != nil {
			return err
		}
		if t.delegated < amount {
			return tokenInsufficientFunds
		}
		if t.delegated -= amount; t.delegated == 0 {
			t.delegate = nil
		}
	} else if err := authorized(c, i, t.owner); err != nil {
		return err
	}
	t.amount -= amount
	return nil
}

func moveTokens(c *Call, amount uint64, decimals int) error {
	toAt, whoAt := 1, 2
	if decimals >= 0 {
		toAt, whoAt = 2, 3
	}
	if _, err := c.Account(whoAt); err != nil {
		return err
	}
	from, source, err := opened(c, 0)
	if err != nil {
		return err
	}
	to, target, err := opened(c, toAt)
	if err != nil {
		return err
	}
	switch {
	case source.state == tokenHeld || target.state == tokenHeld:
		return tokenFrozen
	case source.amount < amount:
		return tokenInsufficientFunds
	case source.mint != target.mint:
		return tokenMintMismatch
	}
	if decimals >= 0 {
		mint, _, err := minted(c, 1, -1)
		if mint != nil && mint.Key != source.mint {
			return tokenMintMismatch
		}
		if err == nil {
			_, _, err = minted(c, 1, decimals)
		}
		if err != nil {
			return err
		}
	}
	if err := source.spend(c, whoAt, amount); err != nil {
		return err
	}
	if from == to {
		return nil
	}
	if target.amount > math.MaxUint64-amount {
		return tokenOverflow
	}
	target.amount += amount
	if source.native != nil {
		if from.Lamports < amount {
			return tokenOverflow
		}
		from.Lamports -= amount
		to.Lamports += amount
	}
	from.Data, to.Data = source.bytes(), target.bytes()
	return nil
}

func approve(c *Call, amount uint64, decimals int) error {
	at := 1
	if decimals >= 0 {
		at = 2
	}
	a, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	if t.state == tokenHeld {
		return tokenFrozen
	}
	if decimals >= 0 {
		mint, _, err := minted(c, 1, decimals)
		if mint != nil && mint.Key != t.mint {
			return tokenMintMismatch
		}
		if err != nil {
			return err
		}
	}
	to, err := c.Account(at)
	if err != nil {
		return err
	}
	if err := authorized(c, at+1, t.owner); err != nil {
		return err
	}
	t.delegate, t.delegated = option(to.Key), amount
	a.Data = t.bytes()
	return nil
}

func revoke(c *Call) error {
	a, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	if t.state == tokenHeld {
		return tokenFrozen
	}
	if err := authorized(c, 1, t.owner); err != nil {
		return err
	}
	t.delegate, t.delegated = nil, 0
	a.Data = t.bytes()
	return nil
}

// setAuthority changes one of a mint's (0 minting, 1 freezing) or of a token
// account's (2 owner, 3 closing) authorities.
func setAuthority(c *Call, of uint8, to *Key) error {
	a, err := c.Account(0)
	if err != nil {
		return err
	}
	if len(a.Data) == mintSpace {
		m, err := readMint(&a.Account)
		if err != nil {
			return err
		}
		slot, none := &m.authority, error(tokenFixedSupply)
		switch of {
		case 1:
			slot, none = &m.freeze, tokenMintCannotFreeze
		case 2, 3:
			return tokenAuthorityType
		}
		if *slot == nil {
			return none
		}
		if err := authorized(c, 1, **slot); err != nil {
			return err
		}
		*slot = to
		a.Data = m.bytes()
		return nil
	}
	_, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	if t.state == tokenHeld {
		return tokenFrozen
	}
	switch of {
	case 2:
		if err := authorized(c, 1, t.owner); err != nil {
			return err
		}
		if to == nil {
			return tokenInvalidInstruction
		}
		t.owner, t.delegate, t.delegated = *to, nil, 0
		if t.native != nil {
			t.closer = nil
		}
	case 3:
		if err := authorized(c, 1, t.mayClose()); err != nil {
			return err
		}
		t.closer = to
	default:
		return tokenAuthorityType
	}
	a.Data = t.bytes()
	return nil
}

func mintTokens(c *Call, amount uint64, decimals int) error {
	to, t, err := opened(c, 1)
	if err != nil {
		return err
	}
	mint, err := c.Account(0)
	switch {
	case err != nil:
		return err
	case t.state == tokenHeld:
		return tokenFrozen
	case t.native != nil:
		return tokenNativeNotSupported
	case mint.Key != t.mint:
		return tokenMintMismatch
	}
	_, m, err := minted(c, 0, decimals)
	if err != nil {
		return err
	}
	if m.authority == nil {
		return tokenFixedSupply
	}
	if err := authorized(c, 2, *m.authority); err != nil {
		return err
	}
	if m.supply > math.MaxUint64-amount {
		return tokenOverflow
	}
	m.supply += amount
	t.amount += amount
	mint.Data, to.Data = m.bytes(), t.bytes()
	return nil
}

func burnTokens(c *Call, amount uint64, decimals int) error {
	from, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	mint, m, err := minted(c, 1, -1)
	switch {
	case err != nil:
		return err
	case t.state == tokenHeld:
		return tokenFrozen
	case t.native != nil:
		return tokenNativeNotSupported
	case t.amount < amount:
		return tokenInsufficientFunds
	case mint.Key != t.mint:
		return tokenMintMismatch
	case decimals >= 0 && int(m.decimals) != decimals:
		return tokenDecimalsMismatch
	}
	if err := t.spend(c, 2, amount); err != nil {
		return err
	}
	m.supply -= amount
	from.Data, mint.Data = t.bytes(), m.bytes()
	return nil
}

func closeToken(c *Call) error {
	a, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	to, err := c.Account(1)
	switch {
	case err != nil:
		return err
	case a == to:
		return InvalidAccountData
	case t.native == nil && t.amount != 0:
		return tokenNonNativeHasBalance
	}
	if err := authorized(c, 2, t.mayClose()); err != nil {
		return err
	}
	to.Lamports += a.Lamports
	a.Account = Account{Owner: wire.SystemProgram}
	return nil
}

func freezeToken(c *Call, hold bool) error {
	a, t, err := opened(c, 0)
	if err != nil {
		return err
	}
	mint, m, err := minted(c, 1, -1)
	switch {
	case err != nil:
		return err
	case hold == (t.state == tokenHeld):
		return tokenInvalidState
	case t.native != nil:
		return tokenNativeNotSupported
	case mint.Key != t.mint:
		return tokenMintMismatch
	case m.freeze == nil:
		return tokenMintCannotFreeze
	}
	if err := authorized(c, 2, *m.freeze); err != nil {
		return err
	}
	t.state = tokenOpen
	if hold {
		t.state = tokenHeld
	}
	a.Data = t.bytes()
	return nil
}

func syncNative(c *Call) error {
	a, t, err := opened(c, 0)
	switch {
	case err != nil:
		return err
	case t.native == nil:
		return tokenNonNative
	case a.Lamports < *t.native:
		return tokenOverflow
	case a.Lamports-*t.native < t.amount:
		return tokenInvalidState
	}
	t.amount = a.Lamports - *t.native
	a.Data = t.bytes()
	return nil
}
