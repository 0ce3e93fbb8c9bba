package wire

import (
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Identifiers of the chains that have a preset.
const (
	ChainCitrea  = "CITREA"
	ChainBotanix = "BOTANIX"
	ChainAlpen   = "ALPEN"
	ChainGoat    = "GOAT"
)

// Preset returns the network that belongs to a Bitcoin network: the published
// contracts and the settings that go with the chain (protocol: chain-evm.md
// §1). It returns an error if there is no known deployment.
func Preset(chain string, on bitcoin.Network) (Network, error) {
	n, ok := Settings(chain, on)
	if !ok {
		return Network{}, fault.New(fault.Unsupported, "chain %s has no preset", chain)
	}
	for _, p := range published {
		if p.chain == chain && p.bitcoin == on {
			n.ChainID = p.chainID
			n.Deployments = []Deployment{p.Deployment}
			return n, nil
		}
	}
	return Network{}, fault.New(fault.Unsupported, "%s has no swap contracts for Bitcoin %s", chain, on)
}

// Settings returns the settings of a chain that do not depend on where its
// contracts are deployed, for use with unpublished deployments: everything but
// ChainID and Deployments. For a chain that has no preset it returns generic,
// untested settings and false.
func Settings(chain string, on bitcoin.Network) (n Network, known bool) {
	n = Network{Chain: chain, Bitcoin: on, SafeTag: "latest", FinalizedTag: "latest",
		PriorityFee: 100_000, MaxBaseFee: 2_000_000_000, FeePPM: 1_250_000}
	switch chain {
	case ChainCitrea:
		n.FinalizedTag = "safe"
		n.StateDiffFee = true
		n.WrappedNative = common.HexToAddress("0x3100000000000000000000000000000000000006")
	case ChainBotanix:
		n.SafeTag, n.FinalizedTag = "finalized", "finalized"
		n.WrappedNative = common.HexToAddress("0x0D2437F93Fed6EA64Ef01cCde385FB1263910C56")
	case ChainAlpen:
		n.WrappedNative = common.HexToAddress("0x790BE3d1FacC9c5499094a6f9F69aad2b9E04684")
	case ChainGoat:
		n.PriorityFee = 5_000_000
		n.WrappedNative = common.HexToAddress("0xbC10000000000000000000000000000000000000")
	default:
		n.FinalizedTag = "finalized"
		return n, false
	}
	return n, true
}

type publishedContracts struct {
	chain   string
	bitcoin bitcoin.Network
	chainID uint64
	Deployment
}

// published lists the deployments by chain and Bitcoin network. The same address
// has different roles on different networks, so nothing is ever looked up by
// address alone (protocol: chain-evm.md §1.2).
var published = []publishedContracts{
	{ChainCitrea, bitcoin.Mainnet, 4114, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0xc98Ef084d3911C8447DBbE4dDa18bC2c9bB0584e"), 2452632},
		BtcRelay:      Contract{common.HexToAddress("0x11ac854A68830d61af975063c91602f878C36fA6"), 2452629},
		VaultManager:  Contract{common.HexToAddress("0x5bb0C725939cB825d1322A99a3FeB570097628c3"), 2452631},
		Execution:     common.HexToAddress("0x6a373b6Adad83964727bA0fa15E22Be05173fc12"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x8A44f1995a54fD976c904Cccf9EbaB49c3182eb3"),
			chains.Onchain:       common.HexToAddress("0x32EB4DbDdC31e19ba908fecc7cae03F0d04F01Fa"),
			chains.OnchainNonced: common.HexToAddress("0xaB2D14745362B26a732dD8B7F95daAE3D2914bBF"),
			chains.OnchainTxID:   common.HexToAddress("0x59A54378B6bA9C21ba66487C6A701D702baDEabE"),
		},
		RefundHandler: common.HexToAddress("0x2920EE496693A5027249a027A6FD3F643E743745"),
	}},
	{ChainCitrea, bitcoin.Testnet4, 5115, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0xBbf7755b674dD107d59F0650D1A3fA9C60bf6Fe6"), 12346224},
		BtcRelay:      Contract{common.HexToAddress("0x00D122E9f9766cd81a38D2dd44f9AFfb94c67Af7"), 12346223},
		VaultManager:  Contract{common.HexToAddress("0x9Bf990C6088F716279797a602b05941c40591533"), 12346223},
		Execution:     common.HexToAddress("0x9e289512965A0842b342A6BB3F3c41F22a555Cfe"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x1120e1Eb3049148AeBEe497331774BfE1f6c174D"),
			chains.Onchain:       common.HexToAddress("0xBe8C784b03F0c6d54aC35a4D41bd6CF2EDb6e012"),
			chains.OnchainNonced: common.HexToAddress("0x65faec5DC334bf2005eC2DFcf012da87a832f1F0"),
			chains.OnchainTxID:   common.HexToAddress("0xf61D1da542111216337FeEA5586022130D468842"),
		},
		RefundHandler: common.HexToAddress("0x4699450973c21d6Fe09e36A8A475EaE4D78a3137"),
	}},
	{ChainBotanix, bitcoin.Mainnet, 3637, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0x9a027B5Bf43382Cc4A5134d9EFD389f61ece27B9"), 2320403},
		BtcRelay:      Contract{common.HexToAddress("0xe8be24CF21341c9567664009a8a82C9Dc1eE90D6"), 2320400},
		VaultManager:  Contract{common.HexToAddress("0xe510D5781C6C849284Fb25Dc20b1684cEC445C8B"), 2320402},
		Execution:     common.HexToAddress("0x71Bc44F3F7203fC1279107D924e418F02b0d4029"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0xfFA842529977a40A3fdb988cdDC9CB5c39bAcF26"),
			chains.Onchain:       common.HexToAddress("0x62a718348081F9CF9a8E3dF4B4EA6d6349991ad9"),
			chains.OnchainNonced: common.HexToAddress("0xb0226bAC3BD30179fb66A43cEA212AbBC988e004"),
			chains.OnchainTxID:   common.HexToAddress("0xa2698D2fBE3f7c74cCca428a5fd968411644C641"),
		},
		RefundHandler: common.HexToAddress("0x44aC0f0677C88e2c0B2FEc986b70E3b9A224f553"),
	}},
	{ChainBotanix, bitcoin.Testnet3, 3636, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0xfFA842529977a40A3fdb988cdDC9CB5c39bAcF26"), 4173454},
		BtcRelay:      Contract{common.HexToAddress("0xba7E78011909e3501027FBc226a04DCC837a555D"), 3462466},
		VaultManager:  Contract{common.HexToAddress("0x9a027B5Bf43382Cc4A5134d9EFD389f61ece27B9"), 4173451},
		Execution:     common.HexToAddress("0xe510D5781C6C849284Fb25Dc20b1684cEC445C8B"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0xBe8C784b03F0c6d54aC35a4D41bd6CF2EDb6e012"),
			chains.Onchain:       common.HexToAddress("0x4699450973c21d6Fe09e36A8A475EaE4D78a3137"),
			chains.OnchainNonced: common.HexToAddress("0xfd0FbA128244f502678251b07dEa0fb4EcE959F3"),
			chains.OnchainTxID:   common.HexToAddress("0x65faec5DC334bf2005eC2DFcf012da87a832f1F0"),
		},
		RefundHandler: common.HexToAddress("0xEf227Caf24681FcEDa5fC26777B81964D404e239"),
	}},
	{ChainAlpen, bitcoin.Testnet3, 8150, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0x2920EE496693A5027249a027A6FD3F643E743745"), 532614},
		BtcRelay:      Contract{common.HexToAddress("0x59A54378B6bA9C21ba66487C6A701D702baDEabE"), 532610},
		VaultManager:  Contract{common.HexToAddress("0xaB2D14745362B26a732dD8B7F95daAE3D2914bBF"), 532613},
		Execution:     common.HexToAddress("0x32EB4DbDdC31e19ba908fecc7cae03F0d04F01Fa"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x3887B02217726bB36958Dd595e57293fB63D5082"),
			chains.Onchain:       common.HexToAddress("0x71Bc44F3F7203fC1279107D924e418F02b0d4029"),
			chains.OnchainNonced: common.HexToAddress("0xe510D5781C6C849284Fb25Dc20b1684cEC445C8B"),
			chains.OnchainTxID:   common.HexToAddress("0xe8be24CF21341c9567664009a8a82C9Dc1eE90D6"),
		},
		RefundHandler: common.HexToAddress("0x9a027B5Bf43382Cc4A5134d9EFD389f61ece27B9"),
	}},
	{ChainAlpen, bitcoin.Testnet4, 8150, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0xb0226bAC3BD30179fb66A43cEA212AbBC988e004"), 843614},
		BtcRelay:      Contract{common.HexToAddress("0xfFA842529977a40A3fdb988cdDC9CB5c39bAcF26"), 843611},
		VaultManager:  Contract{common.HexToAddress("0x62a718348081F9CF9a8E3dF4B4EA6d6349991ad9"), 843613},
		Execution:     common.HexToAddress("0xa2698D2fBE3f7c74cCca428a5fd968411644C641"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x44aC0f0677C88e2c0B2FEc986b70E3b9A224f553"),
			chains.Onchain:       common.HexToAddress("0x50dFF49039c0e45eCb8040fC986fA24B4dda787D"),
			chains.OnchainNonced: common.HexToAddress("0xFB5582400a527342a7D32491D7e756Ba3C346FE7"),
			chains.OnchainTxID:   common.HexToAddress("0xCBd9bcfb4b47F0A98948eD4d7Dcc872433989d57"),
		},
		RefundHandler: common.HexToAddress("0xA6E5eBF158cDFC4A5B3694495FB26ecadb1378eb"),
	}},
	{ChainGoat, bitcoin.Testnet3, 48816, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0xe510D5781C6C849284Fb25Dc20b1684cEC445C8B"), 9368978},
		BtcRelay:      Contract{common.HexToAddress("0x3887B02217726bB36958Dd595e57293fB63D5082"), 9368975},
		VaultManager:  Contract{common.HexToAddress("0x71Bc44F3F7203fC1279107D924e418F02b0d4029"), 9368977},
		Execution:     common.HexToAddress("0xe8be24CF21341c9567664009a8a82C9Dc1eE90D6"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x9a027B5Bf43382Cc4A5134d9EFD389f61ece27B9"),
			chains.Onchain:       common.HexToAddress("0xa2698D2fBE3f7c74cCca428a5fd968411644C641"),
			chains.OnchainNonced: common.HexToAddress("0x62a718348081F9CF9a8E3dF4B4EA6d6349991ad9"),
			chains.OnchainTxID:   common.HexToAddress("0xfFA842529977a40A3fdb988cdDC9CB5c39bAcF26"),
		},
		RefundHandler: common.HexToAddress("0xb0226bAC3BD30179fb66A43cEA212AbBC988e004"),
	}},
	{ChainGoat, bitcoin.Testnet4, 48816, Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{common.HexToAddress("0x3FbbA0eb82cf1247cbf92B3D51641226310F0Ca5"), 10240371},
		BtcRelay:      Contract{common.HexToAddress("0xEeD58871C24d24C49554aF8B65Dd86eD8ed778D3"), 10240368},
		VaultManager:  Contract{common.HexToAddress("0x8a80A68f8bA1732015A821b5260fEF8040a844b7"), 10240370},
		Execution:     common.HexToAddress("0x4f7d86C870F28ac30C8fa864Ee04264D7dD03847"),
		ClaimHandlers: [4]common.Address{
			chains.HTLC:          common.HexToAddress("0x122962B30c46Ef188Dd598a76647c2DBbE1E914e"),
			chains.Onchain:       common.HexToAddress("0xa2b2d8CD8D1a9200Ac0970523FdfFcbD94aE54B6"),
			chains.OnchainNonced: common.HexToAddress("0x3BfF76308e6DEaCaEfdF5a928d6a3082Ab55bf58"),
			chains.OnchainTxID:   common.HexToAddress("0x4737C793a1f86a375BAad0D96134bEd64f246693"),
		},
		RefundHandler: common.HexToAddress("0x0Ff4792d4F792c5B3678f08c18e7cE1974880e48"),
	}},
}
