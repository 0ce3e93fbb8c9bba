package httpx_test

import (
	"net/netip"
	"testing"

	"github.com/swapper-go/swapper/internal/httpx"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.255.255": true, "100.128.0.1": true,
		"192.0.1.1": true, "198.17.255.255": true, "223.255.255.255": true, "168.63.129.15": true,
		"2606:4700::1111": true, "2a00:1450::1": true, "2001:4860:4860::8888": true,
		"::ffff:8.8.8.8": true, "64:ff9b::8.8.8.8": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false, "127.255.0.9": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.7": false, "203.0.113.7": false, "224.0.0.1": false,
		"239.255.255.250": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "fec0::1": false, "ff02::1": false,
		"2001:db8::1": false, "2001::1": false, "2001:20::1": false, "2002:7f00:1::1": false, "2002:808:808::1": false, "3fff::1": false,
		"5f00::1": false, "100::1": false, "::7f00:1": false, "::8.8.8.8": false, "2606:4700::1111%1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.1.2.3": false, "::ffff:169.254.169.254": false,
		"64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::8.8.8.8": false, "64:ff9b::1:0:808:808": false,
	} {
		if got := httpx.Public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Public(%s) = %v, want %v", addr, got, want)
		}
	}
	if httpx.Public(netip.Addr{}) {
		t.Error("the zero address is not public")
	}
}
