package contracts

import (
	"github.com/NethermindEth/juno/core/crypto"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Where the universal deployer is on public networks, and its class.
var (
	DeployerAddress = wire.MustFelt("0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125")
	classDeployer   = wire.MustFelt("0x01b2df6d8861670d4a8ca4670433b2418d78169c2947f46dc614e69f333745c8")
)

// UniversalDeployer deploys contracts for anybody. Its constructor takes nothing.
func UniversalDeployer() Class {
	return Class{
		Name: "universal deployer", Hash: classDeployer, ABI: deployerABI,
		Entries: entries(map[string]func(*call){"deploy_contract": deployContract, "deployContract": deployContract}),
	}
}

// deployContract deploys a contract of a class at an address that, if ownAddress, only
// the caller can take.
func deployContract(x *call) {
	class, salt, ownAddress, calldata := arg(x, readAddress), arg(x, readFelt), arg(x, readBool), arg(x, readFelts)
	x.done()
	final := salt
	if ownAddress {
		caller := x.Caller()
		final = *crypto.Pedersen(&caller, &salt)
	}
	at, err := x.Deploy(class, final, calldata, !ownAddress)
	if err != nil {
		panic(err)
	}
	x.event("ContractDeployed", nil, felts{at, x.Caller()}.bool(ownAddress).add(class).span(calldata...).add(salt))
	x.out = x.out.add(at)
}
