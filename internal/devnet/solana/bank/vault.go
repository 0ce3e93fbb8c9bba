package bank

import (
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// deposit moves tokens of the signer into its balance in the program.
func deposit(x *call) error {
	amount, err := wire.DecodeNumber(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	from, fromAt := x.token("signerAta")
	mint := x.mint("mint")
	x.runs("systemProgram", wire.SystemProgram)
	x.runs("tokenProgram", wire.TokenProgram)
	user, userAt := x.openUserVault(signer, mint)
	vault := x.openVault(signer, mint)
	x.writable(signer, fromAt)
	x.require(from.Amount >= amount, constraintRaw)
	x.require(from.Mint == mint.Key, constraintTokenMint)
	x.authority()

	x.invoke(wire.TransferToken(fromAt.Key, vault.Key, signer.Key, amount))
	user.Amount = x.add(user.Amount, amount)
	if x.err == nil {
		userAt.Data = user.Bytes()
	}
	return x.err
}

// withdraw is the inverse of deposit.
func withdraw(x *call) error {
	amount, err := wire.DecodeNumber(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	to, toAt := x.token("signerAta")
	user, userAt := x.userVault("userData")
	vault, vaultAt := x.token("vault")
	mint := x.mint("mint")
	x.runs("tokenProgram", wire.TokenProgram)
	x.writable(signer, toAt)
	x.require(to.Mint == mint.Key, constraintTokenMint)
	x.is(userAt, x.p.UserVault(signer.Key, mint.Key))
	x.writable(userAt)
	x.require(user.Amount >= amount, constraintRaw)
	x.is(vaultAt, x.p.Vault(mint.Key))
	x.writable(vaultAt)
	x.require(vault.Owner == x.vaultOwner(vaultAt), constraintTokenOwner)

	if amount > 0 {
		x.payFromVault(vaultAt, toAt, mint.Key, amount)
	}
	if x.err == nil {
		user.Amount -= amount
		userAt.Data = user.Bytes()
	}
	return x.err
}

// openUserVault returns the balance of a signer, which is created if it is not there.
func (x *call) openUserVault(signer, mint *Info) (v wire.UserVault, a *Info) {
	a = x.account("userData")
	_, v.Bump = Derive(x.Program, []byte("uservault"), signer.Key[:], mint.Key[:])
	if a.Owner == wire.SystemProgram {
		x.create(a, signer, wire.UserVaultSpace, x.Program, []byte("uservault"), signer.Key[:], mint.Key[:])
	} else {
		x.is(a, x.p.UserVault(signer.Key, mint.Key))
		v, _ = x.userVault("userData")
	}
	x.writable(a)
	return v, a
}

// openVault returns the program's token account of a mint, which is created if it is
// not there.
func (x *call) openVault(payer, mint *Info) *Info {
	a := x.account("vault")
	if a.Owner == wire.SystemProgram {
		x.create(a, payer, wire.TokenAccountSpace, wire.TokenProgram, []byte("vault"), mint.Key[:])
		x.invoke(wire.InitToken(a.Key, mint.Key, x.vaultOwner(a)))
	} else {
		x.is(a, x.p.Vault(mint.Key))
		v, _ := x.token("vault")
		x.require(v.Owner == x.vaultOwner(a), constraintTokenOwner)
	}
	x.writable(a)
	return a
}

// vaultOwner is who owns the program's token accounts: in v1 the account that the
// instruction names, whose address is checked later; in v2 each owns itself.
func (x *call) vaultOwner(vault *Info) wire.Key {
	if x.p.Version == wire.V1 {
		return x.account("vaultAuthority").Key
	}
	return vault.Key
}

// authority demands v1's account of the owner of all vaults.
func (x *call) authority() {
	if x.p.Version == wire.V1 {
		x.is(x.account("vaultAuthority"), x.p.Authority())
	}
}

// payFromVault sends tokens of the program.
func (x *call) payFromVault(vault, to *Info, mint wire.Key, amount uint64) {
	seeds := [][]byte{[]byte("authority")}
	if x.p.Version == wire.V2 {
		seeds = [][]byte{[]byte("vault"), mint[:]}
	}
	_, bump := Derive(x.Program, seeds...)
	x.invoke(wire.TransferToken(vault.Key, to.Key, x.vaultOwner(vault), amount), append(seeds, []byte{bump}))
}
