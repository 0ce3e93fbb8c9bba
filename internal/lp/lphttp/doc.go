// Package lphttp calls liquidity providers over HTTP: a [Client] makes the calls of the
// protocol, one method per endpoint, within bounds of time, size and number.
package lphttp
