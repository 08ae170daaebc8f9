//! Writes glTF files, also invalid ones, from JSON and the bytes that it refers to.

use drystone_formats::{Model, ModelOptions};
use serde_json::{Value, json};

use crate::model_helpers::{Files, beside};

/// A JSON document and its one buffer, built accessor by accessor.
pub(crate) struct Gltf {
    pub(crate) json: Value,
    pub(crate) buffer: Vec<u8>,
}

pub(crate) const F32: u32 = 5126;
pub(crate) const U8: u32 = 5121;
pub(crate) const U16: u32 = 5123;
pub(crate) const U32: u32 = 5125;
pub(crate) const I16: u32 = 5122;

impl Gltf {
    pub(crate) fn new() -> Self {
        let json = json!({
            "asset": {"version": "2.0"},
            "buffers": [{}], "bufferViews": [], "accessors": [], "meshes": [], "nodes": [],
            "materials": []
        });
        Self { json, buffer: Vec::new() }
    }

    /// Appends an object to a list of the document. Returns its index.
    pub(crate) fn add(&mut self, list: &str, object: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(object);
        list.len() - 1
    }

    /// Appends bytes to the buffer and adds a buffer view of them.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        let view = json!({"buffer": 0, "byteOffset": start, "byteLength": bytes.len()});
        self.add("bufferViews", view)
    }

    pub(crate) fn accessor(
        &mut self,
        kind: &str,
        component: u32,
        count: usize,
        bytes: &[u8],
    ) -> usize {
        let view = self.view(bytes);
        let object = json!({
            "bufferView": view, "componentType": component, "count": count, "type": kind
        });
        self.add("accessors", object)
    }

    pub(crate) fn floats<const N: usize>(&mut self, elements: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = elements.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
        self.accessor(["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1], F32, elements.len(), &bytes)
    }

    pub(crate) fn indices(&mut self, component: u32, indices: &[u32]) -> usize {
        let size = [(U8, 1), (U16, 2), (U32, 4)].iter().find(|(it, _)| *it == component).unwrap().1;
        let bytes: Vec<u8> =
            indices.iter().flat_map(|n| n.to_le_bytes()[..size].to_vec()).collect();
        self.accessor("SCALAR", component, indices.len(), &bytes)
    }

    /// Adds a mesh with these primitives. Returns its index.
    pub(crate) fn mesh(&mut self, primitives: &[Value]) -> usize {
        self.add("meshes", json!({"name": "mesh", "primitives": primitives}))
    }

    fn sealed(&self, uri: Option<&str>) -> Value {
        let mut json = self.json.clone();
        json["buffers"][0]["byteLength"] = self.buffer.len().into();
        if let Some(uri) = uri {
            json["buffers"][0]["uri"] = uri.into();
        }
        json
    }

    /// Returns the file as text, with the buffer in a separate file.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.text_with("a%20b.bin")
    }

    /// Returns the file as text, with the buffer in the file at `uri`.
    pub(crate) fn text_with(&self, uri: &str) -> Vec<u8> {
        serde_json::to_vec(&self.sealed(Some(uri))).unwrap()
    }

    /// Returns the file as text with an embedded buffer.
    pub(crate) fn embedded(&self) -> Vec<u8> {
        let uri = format!("data:application/octet-stream;base64,{}", base64(&self.buffer));
        serde_json::to_vec(&self.sealed(Some(&uri))).unwrap()
    }

    /// Returns the binary file.
    pub(crate) fn binary(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(&self.sealed(None)).unwrap();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut buffer = self.buffer.clone();
        buffer.resize(buffer.len().next_multiple_of(4), 0);
        let word = |n: usize| (n as u32).to_le_bytes();
        let length = 12 + 8 + json.len() + 8 + buffer.len();
        [
            &b"glTF"[..],
            &word(2),
            &word(length),
            &word(json.len()),
            b"JSON",
            &json,
            &word(buffer.len()),
            b"BIN\0",
            &buffer,
        ]
        .concat()
    }

    pub(crate) fn model(&self) -> Model {
        parse(&self.binary(), &[]).unwrap()
    }

    pub(crate) fn error(&self) -> String {
        parse(&self.binary(), &[]).unwrap_err().to_string()
    }
}

pub(crate) fn parse(bytes: &[u8], files: Files) -> Result<Model, drystone_formats::SourceError> {
    Model::parse_gltf(bytes, "test.glb", &ModelOptions::default(), &mut beside(files))
}

/// A quad in the XY plane: two triangles with 16-bit indices, shown by one node.
pub(crate) fn quad() -> Gltf {
    let mut gltf = Gltf::new();
    let positions =
        gltf.floats(&[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
    let indices = gltf.indices(U16, &[0, 1, 2, 0, 2, 3]);
    let mesh = gltf.mesh(&[json!({"attributes": {"POSITION": positions}, "indices": indices})]);
    gltf.add("nodes", json!({"name": "floor", "mesh": mesh}));
    gltf
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, n| bits << 8 | u32::from(*group.get(n).unwrap_or(&0)));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let is_there = digit <= group.len();
            text.push(if is_there { DIGITS[value as usize].into() } else { '=' });
        }
    }
    text
}
