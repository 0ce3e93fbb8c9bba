// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./BitcoinProof.sol";
import "./Execution.sol";
import "./Money.sol";
import "./Withdrawal.sol";

struct VaultParams {
    address btcRelayContract;
    address token0;
    address token1;
    uint192 token0Multiplier;
    uint192 token1Multiplier;
    uint256 confirmations;
}

struct VaultState {
    bytes32 spvVaultParametersCommitment;
    bytes32 utxoTxHash;
    uint32 utxoVout;
    uint32 openBlockheight;
    uint32 withdrawCount;
    uint32 depositCount;
    uint64 token0Amount;
    uint64 token1Amount;
}

/// Tokens that whoever spends a Bitcoin output decides on.
contract VaultManager is Money {
    using Withdrawals for BtcVaultTx;

    event Opened(
        address indexed owner, uint96 indexed vaultId, bytes32 indexed btcTxHash, uint32 vout, VaultParams params
    );
    event Deposited(bytes32 indexed ownerAndVaultId, uint32 depositCount, uint64 amount0, uint64 amount1);
    event Fronted(
        bytes32 indexed ownerAndVaultId,
        address indexed recipient,
        bytes32 indexed btcTxHash,
        address caller,
        bytes32 executionHash,
        uint64 amount0,
        uint64 amount1
    );
    event Claimed(
        bytes32 indexed ownerAndVaultId,
        address indexed recipient,
        bytes32 indexed btcTxHash,
        address caller,
        bytes32 executionHash,
        address frontingAddress,
        uint32 withdrawCount,
        uint64 amount0,
        uint64 amount1
    );
    event Closed(address indexed owner, uint96 indexed vaultId, bytes32 indexed btcTxHash, bytes error);

    ExecutionContract private immutable execution;
    mapping(address owner => mapping(uint96 vaultId => VaultState)) private vaults;
    mapping(address owner => mapping(uint96 vaultId => mapping(bytes32 frontingId => address))) private fronters;

    constructor(IWrappedNative wrappedNative, ExecutionContract executionContract) Money(wrappedNative) {
        execution = executionContract;
    }

    function open(uint96 vaultId, VaultParams calldata params, bytes32 utxoTxHash, uint32 utxoVout) external {
        VaultState storage vault = vaults[msg.sender][vaultId];
        require(vault.spvVaultParametersCommitment == 0, "open: vault already opened");
        vaults[msg.sender][vaultId] =
            VaultState(keccak256(abi.encode(params)), utxoTxHash, utxoVout, uint32(block.number), 0, 0, 0, 0);
        emit Opened(msg.sender, vaultId, utxoTxHash, utxoVout, params);
    }

    function deposit(address owner, uint96 vaultId, VaultParams calldata params, uint64 rawToken0, uint64 rawToken1)
        external
        payable
    {
        VaultState storage vault = _vault(owner, vaultId, params);
        uint32 count = vault.depositCount + 1;
        vault.depositCount = count;
        vault.token0Amount += rawToken0;
        vault.token1Amount += rawToken1;
        _collect(params, rawToken0, rawToken1, address(this));
        emit Deposited(_key(owner, vaultId), count, rawToken0, rawToken1);
    }

    function front(
        address owner,
        uint96 vaultId,
        VaultParams calldata params,
        uint32 withdrawalSequence,
        bytes32 btcTxHash,
        BtcVaultTx calldata data
    ) external payable {
        VaultState storage vault = _vault(owner, vaultId, params);
        require(withdrawalSequence >= vault.withdrawCount, "front: already claimed");
        BtcVaultTx memory w = data;
        bytes32 id = w.frontingId(btcTxHash);
        require(fronters[owner][vaultId][id] == address(0), "front: already fronted");
        fronters[owner][vaultId][id] = msg.sender;

        uint64 amount0 = w.amount0 + w.executionHandlerFeeAmount0;
        if (w.executionHash == 0) {
            _collect(params, amount0, w.amount1, w.recipient);
            if (params.token0 == NATIVE) _give(NATIVE, w.recipient, _base(amount0, params.token0Multiplier));
        } else {
            _collect(params, amount0, w.amount1, address(this));
            require(_execute(_key(owner, vaultId), id, params, w), "front: execution");
            if (params.token1 != NATIVE) _give(params.token1, w.recipient, _base(w.amount1, params.token1Multiplier));
        }
        if (params.token1 == NATIVE) _give(NATIVE, w.recipient, _base(w.amount1, params.token1Multiplier));
        emit Fronted(
            _key(owner, vaultId), w.recipient, btcTxHash, msg.sender, w.executionHash, w.amount0, w.amount1
        );
    }

    /// After the Bitcoin checks this never reverts: a withdrawal that cannot be carried out closes the vault.
    function claim(
        address owner,
        uint96 vaultId,
        VaultParams calldata params,
        bytes calldata transaction,
        StoredHeader calldata header,
        bytes32[] calldata merkleProof,
        uint256 position
    ) external {
        VaultState storage vault = _vault(owner, vaultId, params);
        BitcoinTx memory t = BitcoinProof.parse(transaction, 1);
        bytes32 txHash = BitcoinProof.doubleHash(transaction);
        require(t.prevHash == vault.utxoTxHash && t.prevIndex == vault.utxoVout, "claim: incorrect in_0 utxo");
        require(
            IBtcRelay(params.btcRelayContract).verifyBlockheader(header) >= params.confirmations, "claim: confirmations"
        );
        bytes calldata hashes;
        assembly ("memory-safe") {
            hashes.offset := merkleProof.offset
            hashes.length := mul(merkleProof.length, 32)
        }
        BitcoinProof.verify(txHash, BitcoinProof.merkleRoot(header), position, hashes);

        (BtcVaultTx memory w, string memory problem) = Withdrawals.read(transaction, t);
        if (bytes(problem).length == 0) problem = _withdraw(vault, w, txHash);
        if (bytes(problem).length == 0) _payOut(owner, vaultId, params, w, txHash, vault.withdrawCount);
        else _close(owner, vaultId, params, txHash, problem);
    }

    function getVault(address owner, uint96 vaultId) external view returns (VaultState memory vault) {
        return vaults[owner][vaultId];
    }

    function getFronterAddress(address owner, uint96 vaultId, bytes32 btcTxHash, BtcVaultTx calldata data)
        external
        view
        returns (address fronter)
    {
        BtcVaultTx memory w = data;
        return fronters[owner][vaultId][w.frontingId(btcTxHash)];
    }

    function getFronterById(address owner, uint96 vaultId, bytes32 frontingId) external view returns (address fronter) {
        return fronters[owner][vaultId][frontingId];
    }

    function parseBitcoinTx(bytes calldata transaction) external pure returns (BtcVaultTx memory data) {
        string memory problem;
        (data, problem) = Withdrawals.read(transaction, BitcoinProof.parse(transaction, 1));
        require(bytes(problem).length == 0, problem);
    }

    function _vault(address owner, uint96 vaultId, VaultParams calldata params)
        private
        view
        returns (VaultState storage vault)
    {
        vault = vaults[owner][vaultId];
        require(vault.spvVaultParametersCommitment == keccak256(abi.encode(params)), "vault: params commitment");
    }

    /// Takes raw amounts from the sender: native coin to this contract, tokens straight to where they shall go.
    function _collect(VaultParams calldata params, uint64 raw0, uint64 raw1, address to) private {
        uint256 amount0 = _base(raw0, params.token0Multiplier);
        uint256 amount1 = _base(raw1, params.token1Multiplier);
        uint256 native = 0;
        if (params.token0 == NATIVE) native = amount0;
        else _move(params.token0, msg.sender, to, amount0);
        if (params.token1 == NATIVE) native += amount1;
        else _move(params.token1, msg.sender, to, amount1);
        require(msg.value >= native, "transferIn: value too low");
    }

    /// Writes a withdrawal off, or says why that cannot be.
    function _withdraw(VaultState storage vault, BtcVaultTx memory w, bytes32 txHash)
        private
        returns (string memory problem)
    {
        (uint64 total0, uint64 total1) = w.totals();
        if (vault.token0Amount < total0) return "withdraw: amount 0";
        if (vault.token1Amount < total1) return "withdraw: amount 1";
        vault.token0Amount -= total0;
        vault.token1Amount -= total1;
        vault.withdrawCount++;
        vault.utxoTxHash = txHash;
        vault.utxoVout = 0;
        return "";
    }

    function _payOut(
        address owner,
        uint96 vaultId,
        VaultParams calldata params,
        BtcVaultTx memory w,
        bytes32 txHash,
        uint32 count
    ) private {
        bytes32 id = w.frontingId(txHash);
        address fronter = fronters[owner][vaultId][id];
        (uint64 total0, uint64 total1) = w.totals();
        uint64 caller0 = w.callerFee0;
        uint64 caller1 = w.callerFee1;
        if (fronter != address(0)) {
            _tryPay(params, fronter, total0 - caller0, total1 - caller1);
        } else {
            caller0 += w.frontingFee0;
            caller1 += w.frontingFee1;
            bool executed = w.executionHash != 0 && _execute(_key(owner, vaultId), id, params, w);
            _tryPay(params, w.recipient, executed ? 0 : total0 - caller0, total1 - caller1);
        }
        _tryPay(params, msg.sender, caller0, caller1);
        emit Claimed(
            _key(owner, vaultId), w.recipient, txHash, msg.sender, w.executionHash, fronter, count, total0, total1
        );
    }

    function _close(
        address owner,
        uint96 vaultId,
        VaultParams calldata params,
        bytes32 txHash,
        string memory problem
    ) private {
        VaultState memory vault = vaults[owner][vaultId];
        delete vaults[owner][vaultId];
        _tryPay(params, owner, vault.token0Amount, vault.token1Amount);
        emit Closed(owner, vaultId, txHash, bytes(problem));
    }

    /// Pays what can be paid. What a recipient cannot take stays here: nobody may block a vault.
    function _tryPay(VaultParams calldata params, address to, uint64 raw0, uint64 raw1) private {
        _tryGive(params.token0, to, _base(raw0, params.token0Multiplier));
        _tryGive(params.token1, to, _base(raw1, params.token1Multiplier));
    }

    /// Leaves token 0 with the execution contract for a call that its recipient wants made.
    function _execute(bytes32 key, bytes32 frontingId, VaultParams calldata params, BtcVaultTx memory w)
        private
        returns (bool ok)
    {
        uint256 amount = _base(w.amount0, params.token0Multiplier);
        uint256 fee = _base(w.executionHandlerFeeAmount0, params.token0Multiplier);
        bytes memory create = abi.encodeCall(
            ExecutionContract.create,
            (
                w.recipient,
                keccak256(abi.encodePacked(key, frontingId)),
                Execution(params.token0, w.executionHash, amount, fee, w.executionExpiry)
            )
        );
        if (params.token0 == NATIVE) {
            (ok,) = address(execution).call{value: amount + fee}(create);
            return ok;
        }
        if (!_callToken(params.token0, abi.encodeCall(IERC20.approve, (address(execution), amount + fee)))) return false;
        (ok,) = address(execution).call(create);
    }

    /// Base units of raw ones: below 2^256.
    function _base(uint64 raw, uint192 multiplier) private pure returns (uint256) {
        return uint256(raw) * multiplier;
    }

    function _key(address owner, uint96 vaultId) private pure returns (bytes32) {
        return bytes32(abi.encodePacked(owner, vaultId));
    }
}
