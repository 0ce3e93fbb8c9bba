// SPDX-License-Identifier: MIT
pragma solidity 0.8.29;

import "./Interfaces.sol";

abstract contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;

    struct Account {
        uint248 balance;
        bool refused; // beside the balance, so that looking at it costs no more gas than real tokens need
    }

    mapping(address owner => Account) internal accounts;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return accounts[owner].balance;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= amount, "token: allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) private {
        Account memory sender = accounts[from];
        require(sender.balance >= amount, "token: balance");
        sender.balance -= uint248(amount);
        accounts[from] = sender;
        Account memory recipient = accounts[to];
        require(!sender.refused && !recipient.refused, "token: account refused");
        recipient.balance += uint248(amount);
        accounts[to] = recipient;
        emit Transfer(from, to, amount);
    }

    function _mint(address to, uint256 amount) internal {
        totalSupply += amount;
        require(totalSupply <= type(uint248).max, "token: supply");
        accounts[to].balance += uint248(amount);
        emit Transfer(address(0), to, amount);
    }
}

/// An ERC-20 that anybody may mint, and that can refuse accounts as some real ones do.
contract TestToken is Token {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) Token(name_, symbol_, decimals_) {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function refuse(address account, bool on) external {
        accounts[account].refused = on;
    }
}

/// The native coin as an ERC-20.
contract WrappedNative is Token {
    constructor() Token("Wrapped native", "WNATIVE", 18) {}

    function deposit() external payable {
        _mint(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        require(accounts[msg.sender].balance >= amount, "token: balance");
        accounts[msg.sender].balance -= uint248(amount);
        totalSupply -= amount;
        emit Transfer(msg.sender, address(0), amount);
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "token: native transfer");
    }
}

/// A wallet contract of one key: it signs by ERC-1271, and it takes native coin only while it is told to.
contract ContractWallet is IERC1271 {
    address public immutable owner;
    bool public accepting;

    constructor(address owner_) payable {
        owner = owner_;
    }

    receive() external payable {
        require(accepting, "wallet: not accepting");
    }

    function accept(bool on) external {
        require(msg.sender == owner, "wallet: not the owner");
        accepting = on;
    }

    function run(address target, uint256 value, bytes calldata data) external payable returns (bytes memory) {
        require(msg.sender == owner, "wallet: not the owner");
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return answer;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address by = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return by != address(0) && by == owner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
