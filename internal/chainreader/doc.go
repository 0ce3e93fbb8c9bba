// Package chainreader answers what swaps ask of the world from real chains,
// Bitcoin and liquidity providers, and builds and checks what users sign. What
// several swaps ask of one node at the same time goes out together.
package chainreader
