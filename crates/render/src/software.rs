//! Detection of adapters that are programs on the CPU.

/// Parts of the names of software adapters: Mesa's drivers, SwiftShader, Windows' WARP, Apple's.
const NAMES: [&str; 7] = [
    "llvmpipe",
    "softpipe",
    "swrast",
    "swiftshader",
    "basic render driver",
    "software rasterizer",
    "software renderer",
];

/// Whether an adapter of this name is a program that runs on the CPU. The built-in rasteriser is
/// faster than such an adapter.
pub(crate) fn is_software(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_adapters_are_detected_by_name() {
        for name in [
            "llvmpipe (LLVM 15.0.6, 256 bits)",
            "softpipe",
            "Google SwiftShader",
            "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)",
            "Mesa DRI swrast",
            "Software Rasterizer",
            "zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits) (MESA_LLVMPIPE))",
            "D3D12 (Microsoft Basic Render Driver)",
            "Apple Software Renderer",
        ] {
            assert!(is_software(name), "{name}");
        }
        for name in [
            "",
            "NVIDIA H200/PCIe/SSE2",
            "AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.7, DRM 3.54)",
            "Mesa Intel(R) UHD Graphics 620 (KBL GT2)",
            "virgl (NVIDIA GeForce)",
            "zink Vulkan 1.3(AMD Radeon (RADV))",
            "D3D12 (AMD Radeon)",
            "Apple M2",
        ] {
            assert!(!is_software(name), "{name}");
        }
    }
}
