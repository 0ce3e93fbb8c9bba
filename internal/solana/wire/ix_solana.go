package wire

// SetLimit asks for a number of compute units for the transaction.
func SetLimit(units uint32) Instruction {
	return Instruction{Program: BudgetProgram, Data: *new(writer).u8(2).u32(units)}
}

// SetPrice offers a price for each compute unit, in micro-lamports.
func SetPrice(microLamports uint64) Instruction {
	return Instruction{Program: BudgetProgram, Data: *new(writer).u8(3).u64(microLamports)}
}

// CreateATA creates the token account of owner for a mint. It fails if there is one
// already. LPs sign messages with this form; everywhere else [EnsureATA] is better.
func CreateATA(payer, owner, mint Key) Instruction { return createATA(payer, owner, mint, nil) }

// EnsureATA creates the token account of owner for a mint unless there is one.
func EnsureATA(payer, owner, mint Key) Instruction { return createATA(payer, owner, mint, []byte{1}) }

func createATA(payer, owner, mint Key, data []byte) Instruction {
	return Instruction{ATAProgram, []Account{
		{PublicKey: payer, IsSigner: true, IsWritable: true}, {PublicKey: ATA(owner, mint), IsWritable: true}, {PublicKey: owner},
		{PublicKey: mint}, {PublicKey: SystemProgram}, {PublicKey: TokenProgram},
	}, data}
}

// Transfer sends lamports.
func Transfer(from, to Key, lamports uint64) Instruction {
	return Instruction{SystemProgram, []Account{{PublicKey: from, IsSigner: true, IsWritable: true}, {PublicKey: to, IsWritable: true}}, *new(writer).u32(2).u64(lamports)}
}

// CreateAccount makes an account of a program, with the rent for its size.
func CreateAccount(funder, account, owner Key, lamports, space uint64) Instruction {
	return Instruction{SystemProgram, []Account{{PublicKey: funder, IsSigner: true, IsWritable: true}, {PublicKey: account, IsSigner: true, IsWritable: true}},
		*new(writer).u32(0).u64(lamports).u64(space).bytes(owner[:]...)}
}

// Allocate gives an account of the System program room for data.
func Allocate(account Key, space uint64) Instruction {
	return Instruction{SystemProgram, []Account{{PublicKey: account, IsSigner: true, IsWritable: true}}, *new(writer).u32(8).u64(space)}
}

// Assign hands an account of the System program over to another program.
func Assign(account, owner Key) Instruction {
	return Instruction{SystemProgram, []Account{{PublicKey: account, IsSigner: true, IsWritable: true}}, *new(writer).u32(1).bytes(owner[:]...)}
}

// InitToken makes an account of the token program that of an owner for a mint.
func InitToken(account, mint, owner Key) Instruction {
	return Instruction{TokenProgram, []Account{{PublicKey: account, IsWritable: true}, {PublicKey: mint}}, *new(writer).u8(18).bytes(owner[:]...)}
}

// SyncNative makes the amount of a WSOL account what its lamports are.
func SyncNative(account Key) Instruction {
	return Instruction{TokenProgram, []Account{{PublicKey: account, IsWritable: true}}, []byte{17}}
}

// CloseToken closes a token account. Of a WSOL account all that it holds goes to the
// destination as lamports.
func CloseToken(account, destination, owner Key) Instruction {
	return Instruction{TokenProgram, []Account{{PublicKey: account, IsWritable: true}, {PublicKey: destination, IsWritable: true}, {PublicKey: owner, IsSigner: true}}, []byte{9}}
}

// TransferToken sends tokens from one token account to another.
func TransferToken(from, to, owner Key, amount uint64) Instruction {
	return Instruction{TokenProgram, []Account{{PublicKey: from, IsWritable: true}, {PublicKey: to, IsWritable: true}, {PublicKey: owner, IsSigner: true}}, *new(writer).u8(3).u64(amount)}
}

// Unwrap turns all WSOL of owner into SOL, what it held before included.
func Unwrap(owner Key) Instruction { return CloseToken(ATA(owner, WSOL), owner, owner) }

// Transferred reads a plain transfer of lamports; ok is false for any other
// instruction.
func Transferred(ix Instruction) (to Key, lamports uint64, ok bool) {
	r := reader{data: ix.Data}
	kind, lamports := r.u32(), r.u64()
	if ix.Program != SystemProgram || r.end() != nil || kind != 2 || len(ix.Accounts) != 2 {
		return Key{}, 0, false
	}
	return ix.Accounts[1].PublicKey, lamports, true
}
