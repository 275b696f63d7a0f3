//! Tells the program which kube it was built with, as Cargo.lock has it.

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("\nname = \"kube\"\n"))
        .and_then(|package| package.split("version = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("unknown");
    println!("cargo::rustc-env=KUBE_VERSION=v{version}");
}
