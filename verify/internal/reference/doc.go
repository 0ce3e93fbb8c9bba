// Package reference tests package verify with recorded answers of the reference service, and
// with any that can come over the wire. It is a package of its own because a fuzzer is as fast
// as the program is small.
package reference
