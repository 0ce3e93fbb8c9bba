// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Interfaces.sol";

/// Takes and gives tokens; the zero address is the native coin.
abstract contract Money {
    error SafeERC20FailedOperation(address token);

    address internal constant NATIVE = address(0);
    uint256 private constant PAYOUT_GAS = 40_000;

    IWrappedNative internal immutable wrapped;

    constructor(IWrappedNative wrappedNative) {
        wrapped = wrappedNative;
    }

    /// Takes amount from src. Native coin comes with the call, from its sender only; what is too much is kept.
    function _take(address token, address src, uint256 amount) internal {
        if (token == NATIVE) {
            require(src == msg.sender, "transferIn: sender not src");
            require(msg.value >= amount, "transferIn: value too low");
        } else {
            _move(token, src, address(this), amount);
        }
    }

    function _move(address token, address src, address to, uint256 amount) internal {
        if (amount != 0 && !_callToken(token, abi.encodeCall(IERC20.transferFrom, (src, to, amount)))) {
            revert SafeERC20FailedOperation(token);
        }
    }

    /// Gives amount or reverts.
    function _give(address token, address to, uint256 amount) internal {
        if (!_tryGive(token, to, amount)) revert SafeERC20FailedOperation(token == NATIVE ? address(wrapped) : token);
    }

    /// Gives amount and tells whether it worked. Whoever refuses native coin gets it wrapped.
    function _tryGive(address token, address to, uint256 amount) internal returns (bool ok) {
        if (amount == 0) return true;
        if (token != NATIVE) return _callToken(token, abi.encodeCall(IERC20.transfer, (to, amount)));

        // The sender of a call must not be able to starve the recipient into wrapped coin.
        require(gasleft() > PAYOUT_GAS + PAYOUT_GAS / 8, "transferOut: gas");
        assembly ("memory-safe") {
            ok := call(PAYOUT_GAS, to, amount, 0, 0, 0, 0)
        }
        if (ok) return true;
        (ok,) = address(wrapped).call{value: amount}(abi.encodeCall(IWrappedNative.deposit, ()));
        return ok && _callToken(address(wrapped), abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    /// Tokens report failure by reverting or by returning false; some return nothing.
    function _callToken(address token, bytes memory data) internal returns (bool ok) {
        assembly ("memory-safe") {
            mstore(0, 0)
            ok := call(gas(), token, 0, add(data, 32), mload(data), 0, 32)
            switch returndatasize()
            case 0 { ok := and(ok, iszero(iszero(extcodesize(token)))) }
            default { ok := and(ok, eq(mload(0), 1)) }
        }
    }
}
