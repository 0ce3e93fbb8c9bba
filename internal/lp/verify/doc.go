// Package verify checks what liquidity providers answer: each quote against the request,
// the market, the chains and the policy, and what is delivered and paid afterwards
// against what was agreed. It is pure.
package verify
